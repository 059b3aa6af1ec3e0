import assert from 'node:assert/strict';
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..', '..');
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
      const run = promisify(execFile)(process.execPath, [file], { cwd: folder, timeout: 600_000 });
      printed += (await run).stdout;
    }
    return { printed, files: readdirSync(folder) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Runs programs in one process. Resolves with those that ended, its exit code, and what it wrote to standard error. */
async function runPrograms(files: readonly string[]): Promise<{
  readonly ended: readonly string[];
  readonly code: number | null;
  readonly stderr: string;
}> {
  const child = fork(join(import.meta.dirname, 'run-programs.ts'), files, {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    timeout: 600_000,
  });
  const ended: string[] = [];
  let stderr = '';
  child.on('message', (file) => void ended.push(String(file)));
  child.stderr?.on('data', (chunk: Buffer) => void (stderr += chunk.toString()));
  await once(child, 'close');
  return { ended, code: child.exitCode, stderr };
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

  describe('run to their end, many in one process', () => {
    const programs = globSync('examples/*.ts', { cwd: root })
      .toSorted()
      .map((path) => join(root, path));
    const perProcess = 10;
    for (let first = 0; first < programs.length; first += perProcess) {
      const group = programs.slice(first, first + perProcess);
      it(group.map((path) => basename(path)).join(', '), async () => {
        assert.deepEqual(await runPrograms(group), { ended: group, code: 0, stderr: '' });
      });
    }
  });

  it('a program that fails among others is detected', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'petrichor-example-'));
    const [good, bad] = [join(folder, 'good.ts'), join(folder, 'bad.ts')];
    await writeFile(good, 'export {};');
    await writeFile(bad, "throw new Error('No weather today.');");
    const { ended, code, stderr } = await runPrograms([good, bad, good]);
    assert.deepEqual({ ended, code }, { ended: [good], code: 1 });
    assert.match(stderr, /No weather today\./);
    await rm(folder, { recursive: true });
  });
});
