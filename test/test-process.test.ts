import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ReportMessage } from '../scripts/test-reporter.ts';
import type { TestTotals } from '../scripts/test-totals.ts';

const SCRIPT = join(import.meta.dirname, '..', 'scripts', 'test-process.ts');

interface Report {
  readonly code: unknown;
  readonly failures: readonly string[];
  readonly totals: TestTotals | undefined;
}

/** Runs the text of a test file in a test process. */
async function runFile(text: string): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-test-process-'));
  try {
    const file = join(folder, 'some.test.ts');
    writeFileSync(file, text);
    const failures: string[] = [];
    let totals: TestTotals | undefined;
    const child = fork(SCRIPT, [file], { silent: true });
    child.on('message', (message: ReportMessage) => {
      if ('failure' in message) failures.push(message.failure);
      if ('totals' in message) ({ totals } = message);
    });
    const [code] = await once(child, 'close');
    return { code, failures, totals };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('a test process reports the tests that pass and fail', async () => {
  const { failures, totals } = await runFile(`
    import { describe, it, test } from 'node:test';
    test('passes', () => {});
    describe('a suite', () => {
      it('fails', async () => { await null; throw new Error('broken'); });
    });
  `);
  assert.equal(failures.length, 1);
  assert.match(failures[0] ?? '', /✖ a suite › fails\n[^]*broken/);
  assert.deepEqual([totals?.passed, totals?.failed], [1, 1]);
});

for (const [name, lose] of [
  ['rejection', `void Promise.reject(new Error('lost'))`],
  ['exception', `setImmediate(() => { throw new Error('lost'); })`],
] as const) {
  test(`a test process fails because of an ${name === 'rejection' ? 'unhandled' : 'uncaught'} ${name}`, async () => {
    const { code, failures, totals } = await runFile(`
      import { test } from 'node:test';
      import { setTimeout } from 'node:timers/promises';
      test('loses an error', async () => { await null; ${lose}; await setTimeout(1); await null; });
    `);
    assert.equal(code, 1);
    assert.equal(totals?.failed, 1);
    assert.match(failures.join(''), /lost/);
  });
}

test('a file that does not load fails its test process', async () => {
  const { totals, failures } = await runFile(`import './missing.ts';`);
  assert.equal(totals?.failed, 1);
  assert.match(failures.join(''), /missing\.ts/);
});

test('a test process does not follow promises', async () => {
  // A promise has an async id of its own only while a hook follows promises.
  const { failures, totals } = await runFile(`
    import assert from 'node:assert/strict';
    import { executionAsyncId } from 'node:async_hooks';
    import { test } from 'node:test';
    test('ids', async () => {
      const before = executionAsyncId();
      const ids = new Set([before]);
      for (let n = 0; n < 20; n++) { await null; ids.add(executionAsyncId()); }
      assert.ok(ids.size < 5, String([...ids]));
    });
  `);
  assert.deepEqual(failures, []);
  assert.equal(totals?.passed, 1);
});
