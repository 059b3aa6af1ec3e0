import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What is lived through: two turns with a tool and a parked call, or the rounds of an outcome. */
export type Scenario = 'turns' | 'outcome';

export interface KillableOptions {
  readonly database: string;
  readonly point: 'before' | 'after';
  /** Which time; 0 for a process that lives. */
  readonly nth: number;
}

/** What the clients of two processes saw, of which the first was killed. */
export interface KillOutcome {
  readonly killed: boolean;
  /** Before the kill. */
  readonly seen: readonly string[];
  /** All of it, in the process after. */
  readonly all: readonly string[];
}

/** Kills a process at its `nth` commit and lets another one finish what it had begun. */
export async function killAtCommit(
  story: Scenario,
  point: KillableOptions['point'],
  nth: number,
): Promise<KillOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-mortal-'));
  try {
    const database = join(folder, 'sessions.db');
    const first = await run(story, { database, point, nth });
    if (first.signal === null) return { killed: false, seen: first.lines, all: first.lines };
    const second = await run(story, { database, point, nth: 0 });
    return { killed: true, seen: first.lines, all: second.lines };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(
  story: Scenario,
  options: KillableOptions,
): Promise<{ readonly signal: string | null; readonly lines: readonly string[] }> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, `killable-${story}.ts`), JSON.stringify(options)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      // Starting is most of what a short life costs.
      env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'petrichor-compile-cache') },
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
