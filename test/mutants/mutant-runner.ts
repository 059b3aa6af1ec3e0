import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Mutant } from './mutants.ts';

/** The result of a test run. */
export interface TestOutcome {
  readonly passed: number;
  readonly failed: number;
  readonly output: string;
}

/** A test file that takes longer than this counts as failed. */
const TEST_TIMEOUT_MS = 300_000;

/** A copy of the source tree in which mutants are applied one after the other. The original is not changed. */
export class MutantRunner {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(root: string): Promise<MutantRunner> {
    const folder = await mkdtemp(join(tmpdir(), 'petrichor-mutants-'));
    for (const part of ['src', 'test', 'package.json']) {
      // Packages of folders with a package.json of their own would take minutes to copy.
      const filter = (path: string): boolean => basename(path) !== 'node_modules';
      await cp(join(root, part), join(folder, part), { recursive: true, filter });
    }
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
    return new MutantRunner(folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  /**
   * Applies a mutant, runs tests, and reverts it.
   * @throws Error if the text to replace does not occur exactly once.
   */
  async runMutant({ name, edits }: Mutant, tests: readonly string[]): Promise<TestOutcome> {
    const before = new Map<string, string>();
    for (const { file, find, replace } of edits) {
      const path = join(this.#folder, file);
      const text = await readFile(path, 'utf8');
      before.set(path, before.get(path) ?? text);
      const times = text.split(find).length - 1;
      if (times !== 1) {
        throw new Error(
          `"${name}" cannot be planted: ${file} holds its text ${times} times, not once. Bring the mutant up to date.`,
        );
      }
      await writeFile(
        path,
        text.replace(find, () => replace),
      );
    }
    try {
      return await this.run(tests);
    } finally {
      for (const [path, text] of before) await writeFile(path, text);
    }
  }

  async run(tests: readonly string[]): Promise<TestOutcome> {
    // If the child inherited it, it would report to this test runner.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const options = ['--test', '--test-reporter=tap', `--test-timeout=${TEST_TIMEOUT_MS}`];
    // One process for all files saves the start of the others.
    const child = spawn(process.execPath, [...options, '--test-isolation=none', ...tests], {
      cwd: this.#folder,
      // Of the copy, so that the cache of the project does not keep files that are gone.
      env: { ...env, NODE_COMPILE_CACHE: join(this.#folder, 'compiled') },
    });
    const output: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
    await new Promise((resolve) => child.on('close', resolve));
    const text = Buffer.concat(output).toString();
    const count = (what: string): number =>
      Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
    return { passed: count('pass'), failed: count('fail') + count('cancelled'), output: text };
  }
}

/** Errors of a file that does not load. In this case the tests did not find the mutant. */
const UNLOADED =
  /SyntaxError|ERR_MODULE_NOT_FOUND|ReferenceError|ERR_INVALID_TYPESCRIPT_SYNTAX|# Subtest: .*\.test\.ts$/m;

/** True if tests ran on the mutant and some of them failed. */
export function isCaught({ passed, failed, output }: TestOutcome): boolean {
  return failed > 0 && passed > 0 && !UNLOADED.test(output);
}
