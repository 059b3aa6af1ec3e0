import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..');
const readme = join(root, 'README.md');
const readmeExample = join(root, 'examples', 'readme.ts');

/** The first TypeScript program of a page, exactly as a reader would copy it. */
function firstProgram(page: string): string | undefined {
  return /^```ts\n(.*?)^```$/ms.exec(page)?.[1];
}

/** Runs a program in an empty folder. Rejects, with what it printed, unless it exits with 0. */
async function runExample(file: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-example-'));
  try {
    await promisify(execFile)(process.execPath, [file], { cwd: folder, timeout: 60_000 });
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('examples', () => {
  it('the first program of the README is examples/readme.ts, byte for byte', (t) => {
    if (!existsSync(readme) && !existsSync(readmeExample)) return t.skip('neither is written yet');
    assert.equal(firstProgram(readFileSync(readme, 'utf8')), readFileSync(readmeExample, 'utf8'));
  });

  it('a README that differs by one byte is seen', () => {
    const page = '# A\n\n```sh\nnpm i\n```\n\n```ts\nrun();\n```\n\n```ts\nother();\n```\n';
    assert.equal(firstProgram(page), 'run();\n');
    assert.notEqual(firstProgram(page.replace('run()', 'run( )')), 'run();\n');
    assert.equal(firstProgram('no program'), undefined);
  });

  it('a program that fails is seen', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'petrichor-example-'));
    await assert.rejects(
      runExample(join(folder, 'missing.ts')),
      /Cannot find module .*missing\.ts/,
    );
    await rm(folder, { recursive: true });
  });

  for (const path of globSync('examples/*.ts', { cwd: root }).toSorted()) {
    it(`${path} runs`, () => runExample(join(root, path)));
  }
});
