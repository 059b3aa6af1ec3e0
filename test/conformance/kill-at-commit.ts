import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleProgram } from '../bundled-program.ts';

/** The scenario: two turns with a tool and a parked call, or the rounds of an outcome. */
export type Scenario = 'turns' | 'outcome';

export interface KillableOptions {
  readonly database: string;
  readonly point: 'before' | 'after';
  /** The number of the commit, from 1. 0: the process is not killed. */
  readonly nth: number;
}

/** The output of the killed process and of the next one. */
export interface KillOutcome {
  readonly killed: boolean;
  /** The lines before the kill. */
  readonly seen: readonly string[];
  /** All lines of the next process. */
  readonly all: readonly string[];
}

/** Kills a process at its `nth` commit and lets another one finish its work. */
export async function killAtCommit(
  scenario: Scenario,
  point: KillableOptions['point'],
  nth: number,
): Promise<KillOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-mortal-'));
  try {
    const database = join(folder, 'sessions.db');
    const first = await run(scenario, { database, point, nth });
    if (first.signal === null) return { killed: false, seen: first.lines, all: first.lines };
    const second = await run(scenario, { database, point, nth: 0 });
    return { killed: true, seen: first.lines, all: second.lines };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(
  scenario: Scenario,
  options: KillableOptions,
): Promise<{ readonly signal: string | null; readonly lines: readonly string[] }> {
  const child = spawn(
    process.execPath,
    [
      await bundleProgram(new URL(`killable-${scenario}.ts`, import.meta.url)),
      JSON.stringify(options),
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      // The compile cache saves most of the run time of a short process.
      env: { NODE_COMPILE_CACHE: join(tmpdir(), 'petrichor-compile-cache'), ...process.env },
    },
  );
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  const { promise, resolve } = Promise.withResolvers<string | null>();
  child.once('close', (_code, signal) => resolve(signal));
  const signal = await promise;
  return { signal, lines: text.split('\n').filter((line) => line !== '') };
}
