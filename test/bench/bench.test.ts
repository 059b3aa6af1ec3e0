import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Figure } from '../../bench/figure.ts';
import { measurements } from '../../bench/measurements.ts';

const MAIN = fileURLToPath(new URL('../../bench/main.ts', import.meta.url));

/** All but those that need the build. */
const NEED_BUILD = ['importTime', 'proofs', 'plantedFaults'];
const NAMES = Object.keys(measurements).filter((name) => !NEED_BUILD.includes(name));

async function bench(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '--quick', ...args]);
  return stdout;
}

describe('the benchmarks', () => {
  let figures: readonly Figure[] = [];

  before(async () => {
    const printed: { readonly figures: readonly Figure[] } = JSON.parse(
      await bench('--json', '--only', NAMES.join(',')),
    );
    figures = printed.figures;
  });

  /** Checks figures that do not depend on the machine. */
  const assertWithinLimits = (unit: string, count: number): void => {
    const found = figures.filter((figure) => figure.unit === unit);
    assert.equal(found.length, count);
    for (const { what, value, atMost } of found)
      assert.ok(value <= (atMost ?? NaN), `${what}: ${value} ${unit}, at most ${atMost}`);
  };

  it('report named figures with units', () => {
    assert.ok(figures.length > 25);
    for (const { what, unit, value } of figures) {
      assert.notEqual(what, '');
      assert.notEqual(unit, '');
      assert.ok(Number.isFinite(value), `${what}: ${value}`);
    }
  });

  it('report at most five commits and about 14 records per turn', () => {
    assertWithinLimits('commits', 1);
    assertWithinLimits('records', 1);
  });

  it('report few bytes per turn, and no growth in later turns', () => {
    assertWithinLimits('KB/turn', 6);
    for (const what of ['written, growth', 'retained, growth']) {
      const { value } = figures.find((figure) => figure.what === what) ?? { value: NaN };
      assert.ok(value <= 1.2, `${what}: ${value}`);
    }
  });

  it('report no record of the audio of live sessions', () =>
    assertWithinLimits('records of input', 2));

  it('report no call without a result after an abort', () => assertWithinLimits('calls', 1));

  it('report few installed packages', () => assertWithinLimits('packages', 1));

  it('print one table with the limits', async () => {
    const lines = (await bench('--only', 'installedPackages')).trim().split('\n');
    assert.equal(lines.length, 3);
    assert.match(lines[2] ?? '', /packages installed with it +\| +\d+ packages \| <= 8 +\| met/);
  });
});
