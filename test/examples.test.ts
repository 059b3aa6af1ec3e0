import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readdirSync, readFileSync } from 'node:fs';
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

/**
 * Runs a program in an empty folder, `times` times. Rejects with its output unless it exits with
 * 0.
 */
async function runExample(file: string, times = 1): Promise<ExampleResult> {
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-example-'));
  try {
    let printed = '';
    for (let n = 0; n < times; n++) {
      const run = promisify(execFile)(process.execPath, [file], { cwd: folder, timeout: 60_000 });
      printed += (await run).stdout;
    }
    return { printed, files: readdirSync(folder) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

interface ExampleResult {
  readonly printed: string;
  /** The files that the program left in its folder. */
  readonly files: readonly string[];
}

/** The printed lines that are an event: its number and its type. */
function listEventLines(printed: string): readonly string[] {
  return [...printed.matchAll(/^\d+ [a-z.]+$/gm)].map(([line]) => line);
}

describe('examples', () => {
  it('the first program of the README is examples/readme.ts, byte for byte', () => {
    assert.equal(firstProgram(readFileSync(readme, 'utf8')), readFileSync(readmeExample, 'utf8'));
  });

  it('the program of the README answers, and continues its session in the next run', async () => {
    const { printed, files } = await runExample(readmeExample, 2);
    const answer = 'Hello! How can I help?\n';
    assert.equal(
      printed,
      `${answer}The session has 4 events.\n${answer}The session has 8 events.\n`,
    );
    assert.deepEqual(files, ['petrichor.db']);
  });

  it('the approval program deletes the file after approval, and its session continues', async () => {
    const { printed, files } = await runExample(join(root, 'examples', 'approval.ts'), 2);
    const lines = listEventLines(printed);
    assert.deepEqual(
      lines.map((line) => Number.parseInt(line, 10)),
      lines.map((_, index) => index + 1),
    );
    assert.equal(lines.filter((line) => line.endsWith(' turn.waiting')).length, 2);
    assert.equal(lines.filter((line) => line.endsWith(' turn.ended')).length, 2);
    assert.deepEqual(files, ['petrichor.db']);
  });

  it('a README that differs by one byte is detected', () => {
    const page = '# A\n\n```sh\nnpm i\n```\n\n```ts\nrun();\n```\n\n```ts\nother();\n```\n';
    assert.equal(firstProgram(page), 'run();\n');
    assert.notEqual(firstProgram(page.replace('run()', 'run( )')), 'run();\n');
    assert.equal(firstProgram('no program'), undefined);
  });

  it('a program that fails is detected', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'petrichor-example-'));
    await assert.rejects(
      runExample(join(folder, 'missing.ts')),
      /Cannot find module .*missing\.ts/,
    );
    await rm(folder, { recursive: true });
  });

  for (const path of globSync('examples/*.ts', { cwd: root }).toSorted()) {
    it(`${path} runs`, async () => {
      await runExample(join(root, path));
    });
  }
});
