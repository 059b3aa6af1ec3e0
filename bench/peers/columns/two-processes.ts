/** Measurements with processes that are killed, or that race. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Peer } from '../peer.ts';
import { withTemporaryFolder } from '../../with-temporary-folder.ts';
import type { Recovery } from '../children/recover.ts';

export interface Kill {
  /** How often the tool that had finished ran again. */
  readonly redone: number;
  readonly lost: readonly string[];
  readonly resumed: 'by itself' | 'by a call' | 'no';
}

const CHILDREN = join(import.meta.dirname, '..', 'children');
/** Time for a package to store the result of the tool that has finished. */
const STORE_MS = 1000;

/** Kills a process in the middle of a turn, when one of two calls has finished, and continues in another. */
export async function measureKill(peer: Peer): Promise<Kill> {
  return withTemporaryFolder(async (folder) => {
    const file = join(folder, 'store.db');
    const effects = join(folder, 'effects');
    const killed = start('interrupted.ts', peer.name, file, effects);
    await untilLines(effects, 2);
    await delay(STORE_MS);
    killed.kill('SIGKILL');
    const child = start('recover.ts', peer.name, file, effects);
    const printed = await text(child.stdout);
    const recovery = JSON.parse(printed.trim().split('\n').at(-1) ?? '') as Recovery;
    const redone = linesOf(effects).filter((line) => line === 'fast').length - 1;
    const lost = [
      ...(recovery.hasMessage ? [] : ['message']),
      ...(recovery.hasResult ? [] : ['finished result']),
    ];
    return { redone, lost, resumed: recovery.resumed };
  });
}

/** Two processes have read the waiting call. The second one approves it so long after the first one. */
const APART_MS = [0, 200];

/** How often a tool runs whose call two processes approve: the most of two tries. */
export async function measureApprovals(peer: Peer): Promise<{ readonly toolRuns: number } | null> {
  const runs: number[] = [];
  for (const apartMs of APART_MS) {
    const count = await withTemporaryFolder(async (folder) => approveTwice(peer, folder, apartMs));
    if (count === undefined) return null;
    runs.push(count);
  }
  return { toolRuns: Math.max(...runs) };
}

async function approveTwice(
  peer: Peer,
  folder: string,
  apartMs: number,
): Promise<number | undefined> {
  const file = join(folder, 'store.db');
  const effects = join(folder, 'effects');
  const asking = start('ask-approval.ts', peer.name, file, effects);
  const answer = (await text(asking.stdout)).trim().split('\n').at(-1);
  if (answer === 'no approvals') return undefined;
  const [first, second] = ['first', 'second'].map((name) => ({
    ready: join(folder, `${name}-ready`),
    go: join(folder, `${name}-go`),
  })) as [Signals, Signals];
  const children = [first, second].map(({ ready, go }) =>
    start('approve.ts', peer.name, file, effects, ready, go),
  );
  const ended = children.map(async (child) => text(child.stdout));
  await Promise.all([untilLines(first.ready, 1), untilLines(second.ready, 1)]);
  writeFileSync(first.go, 'go\n');
  await delay(apartMs);
  writeFileSync(second.go, 'go\n');
  await Promise.all(ended);
  return linesOf(effects).length;
}

/** Files by which a process and its parent wait for each other. */
interface Signals {
  readonly ready: string;
  readonly go: string;
}

function start(
  program: string,
  ...args: readonly string[]
): ChildProcessByStdio<null, Readable, Readable> {
  const child = spawn(process.execPath, [join(CHILDREN, program), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stderr.resume();
  return child;
}

const linesOf = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];

async function untilLines(file: string, count: number): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (linesOf(file).length < count) {
    if (Date.now() > deadline) throw new Error(`${file} has not got ${count} lines in 60 s.`);
    await delay(20);
  }
}
