import { fork, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { systemClock } from '../../net/index.ts';
import type { Clock } from '../../net/index.ts';

/** What a solver said, or why it said nothing. It never throws and never ends this process. */
export type SolverAnswer =
  | { readonly answer: 'sat'; readonly by: string }
  | { readonly answer: 'unsat'; readonly by: string }
  | { readonly answer: 'unknown'; readonly by: string; readonly reason: string };

/** When a query is given up: its answer is then `unknown`, with the reason. */
export interface SolverLimits {
  /** How long one query may take; 20 seconds unless said. */
  readonly timeoutMs?: number;
  /** How much memory one query may take; 1000 MB unless said. */
  readonly memoryMb?: number;
}

/** Answers questions in SMT-LIB, each in a process of its own. */
export interface Solver {
  readonly name: string;
  readonly ask: (text: string, limits?: SolverLimits) => Promise<SolverAnswer>;
}

const DEFAULT_TIMEOUT_MS = 20_000;
const DEFAULT_MEMORY_MB = 1_000;
/** A solver that was told to stop by itself has this much longer to do so. */
const GRACE_MS = 2_000;

/** The `z3` on PATH, or the command given. The clock ends a solver that does not end by itself. */
export function nativeZ3(command = 'z3', clock: Clock = systemClock): Solver {
  return {
    name: 'native z3',
    ask: (text, limits = {}) => {
      const { timeoutMs = DEFAULT_TIMEOUT_MS, memoryMb = DEFAULT_MEMORY_MB } = limits;
      const seconds = Math.max(1, Math.ceil(timeoutMs / 1000));
      const child = spawn(command, [`-T:${seconds}`, `-memory:${memoryMb}`, '-in', '-smt2'], {
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      return readAnswer(child, text, 'native z3', timeoutMs, clock);
    },
  };
}

/** The npm package `z3-solver`, an optional peer, in a forked process. */
export function npmZ3(): Solver {
  return {
    name: 'npm z3-solver',
    ask: (text, limits = {}) => {
      const { timeoutMs = DEFAULT_TIMEOUT_MS, memoryMb = DEFAULT_MEMORY_MB } = limits;
      // Beside this file, in the source as in the build.
      const file = import.meta.url.endsWith('.ts') ? './z3-child.ts' : './z3-child.js';
      const child = fork(new URL(file, import.meta.url), {
        stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
        execArgv: [],
      });
      const input = `${memoryMb} ${timeoutMs}\n${text}`;
      return readAnswer(child, input, 'npm z3-solver', timeoutMs, systemClock);
    },
  };
}

/** The first of these that is there: a native one, else the npm package. */
export function anySolver(): Solver {
  const native = nativeZ3();
  const packaged = npmZ3();
  return {
    name: 'z3',
    ask: async (text, limits) => {
      const first = await native.ask(text, limits);
      return first.answer === 'unknown' && first.reason.startsWith(ABSENT)
        ? packaged.ask(text, limits)
        : first;
    },
  };
}

const ABSENT = 'absent';
/** With what z3 ends when it may have no more memory. */
const OUT_OF_MEMORY_STATUS = '101';

function readAnswer(
  child: ChildProcess,
  text: string,
  by: string,
  timeoutMs: number,
  clock: Clock,
): Promise<SolverAnswer> {
  const { promise, resolve } = Promise.withResolvers<SolverAnswer>();
  const timedOut = `timed out after ${timeoutMs} ms`;
  const unknown = (reason: string): void => resolve({ answer: 'unknown', by, reason });
  const outOfMemory = 'out of memory';
  let output = '';
  let errorOutput = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    const line = output
      .split('\n')
      .slice(0, -1)
      .find((one) => one.trim() !== '');
    if (line === undefined) return;
    if (line === 'sat' || line === 'unsat') resolve({ answer: line, by });
    else if (line === 'timeout') unknown(timedOut);
    else if (line.startsWith(ABSENT)) unknown(line);
    else if (/memory/i.test(line)) unknown(outOfMemory);
    else unknown(line === 'unknown' ? 'the solver does not know' : line);
    child.kill('SIGKILL');
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    errorOutput = `${errorOutput}${chunk.toString()}`.slice(-500);
    // The solver's own end does not end a process that has its threads.
    const [, status] = /exited \(with status: (\d+)\)/.exec(errorOutput) ?? [];
    if (status === undefined) return;
    unknown(status === OUT_OF_MEMORY_STATUS ? outOfMemory : `ended with code ${status}`);
    child.kill('SIGKILL');
  });
  child.on('error', (error) => {
    const absent = 'code' in error && error.code === 'ENOENT';
    unknown(absent ? `${ABSENT}: there is no ${by} here` : `it did not start: ${error.message}`);
  });
  child.on('close', (code, signal) => {
    if (/out of memory/i.test(errorOutput)) unknown(outOfMemory);
    else if (signal !== null) unknown(`killed by ${signal}`);
    else unknown(`ended with code ${String(code)} and no answer`);
  });
  const cancel = clock.at(clock.now() + timeoutMs + GRACE_MS, () => {
    unknown(timedOut);
    child.kill('SIGKILL');
  });
  // A solver that dies while it is being told is heard of by its end.
  child.stdin?.on('error', () => {});
  child.stdin?.end(text);
  return promise.finally(cancel);
}
