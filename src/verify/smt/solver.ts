import { fork, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { packageProgram } from '../../core/internal.ts';
import { systemClock } from '../../net/index.ts';
import type { Clock } from '../../net/index.ts';

/** The answer of a solver, or the reason why there is none. */
export type SolverAnswer =
  | { readonly answer: 'sat'; readonly by: string }
  | { readonly answer: 'unsat'; readonly by: string }
  | { readonly answer: 'unknown'; readonly by: string; readonly reason: string };

/** The limits of one query. A query that exceeds one gets the answer `unknown`, with the reason. */
export interface SolverLimits {
  /** The maximum time, in milliseconds. Default: 20,000. */
  readonly timeoutMs?: number;
  /** The maximum memory, in MB. Default: 1000. */
  readonly memoryMb?: number;
  /** Kills the solver when it aborts. The answer is then `unknown`, with the reason "canceled". */
  readonly signal?: AbortSignal;
}

/** Answers queries in SMT-LIB, each in a separate process. */
export interface Solver {
  readonly name: string;
  /** Runs one query. It does not reject: every failure is an `unknown` answer. */
  readonly ask: (text: string, limits?: SolverLimits) => Promise<SolverAnswer>;
}

const DEFAULT_TIMEOUT_MS = 20_000;
const DEFAULT_MEMORY_MB = 1_000;
/** How long after its time limit a solver may run before it is killed. */
const GRACE_MS = 2_000;

/**
 * Returns a solver that runs a native z3. A process that exceeds its time limit is killed.
 * @param command the z3 command. Default: the `z3` on PATH.
 */
export function nativeZ3(command = 'z3', clock: Clock = systemClock): Solver {
  return {
    name: 'native z3',
    ask: (text, limits = {}) => {
      const { timeoutMs = DEFAULT_TIMEOUT_MS, memoryMb = DEFAULT_MEMORY_MB } = limits;
      const seconds = Math.max(1, Math.ceil(timeoutMs / 1000));
      const child = spawn(command, [`-T:${seconds}`, `-memory:${memoryMb}`, '-in', '-smt2'], {
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      return readAnswer(child, text, 'native z3', { timeoutMs, clock, signal: limits.signal });
    },
  };
}

/** Returns a solver that runs the npm package `z3-solver`, an optional peer dependency, in a forked process. */
export function npmZ3(): Solver {
  return {
    name: 'npm z3-solver',
    ask: (text, limits = {}) => {
      const { timeoutMs = DEFAULT_TIMEOUT_MS, memoryMb = DEFAULT_MEMORY_MB } = limits;
      const child = fork(packageProgram('verify/smt/z3-child'), {
        stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
        execArgv: [],
      });
      const input = `${memoryMb} ${timeoutMs}\n${text}`;
      return readAnswer(child, input, 'npm z3-solver', {
        timeoutMs,
        clock: systemClock,
        signal: limits.signal,
      });
    },
  };
}

/** Returns a solver that uses the native z3 on PATH, or the npm package `z3-solver` if there is none. */
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
const CANCELED = 'canceled';
/** The exit status of z3 when it is out of memory. */
const OUT_OF_MEMORY_STATUS = '101';

function readAnswer(
  child: ChildProcess,
  text: string,
  by: string,
  {
    timeoutMs,
    clock,
    signal,
  }: {
    readonly timeoutMs: number;
    readonly clock: Clock;
    readonly signal: AbortSignal | undefined;
  },
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
    // The process does not exit with the solver, because the threads of the solver keep it alive.
    const [, status] = /exited \(with status: (\d+)\)/.exec(errorOutput) ?? [];
    if (status === undefined) return;
    unknown(status === OUT_OF_MEMORY_STATUS ? outOfMemory : `ended with code ${status}`);
    child.kill('SIGKILL');
  });
  child.on('error', (error) => {
    const absent = 'code' in error && error.code === 'ENOENT';
    unknown(absent ? `${ABSENT}: ${by} was not found` : `it did not start: ${error.message}`);
  });
  child.on('close', (code, killedBy) => {
    if (/out of memory/i.test(errorOutput)) unknown(outOfMemory);
    else if (killedBy !== null) unknown(`killed by ${killedBy}`);
    else unknown(`ended with code ${String(code)} and no answer`);
  });
  const cancel = clock.at(clock.now() + timeoutMs + GRACE_MS, () => {
    unknown(timedOut);
    child.kill('SIGKILL');
  });
  const abort = (): void => {
    unknown(CANCELED);
    child.kill('SIGKILL');
  };
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort);
  // If the solver dies while the query is being written, the `close` event reports it.
  child.stdin?.on('error', () => {});
  child.stdin?.end(text);
  return promise.finally(() => {
    cancel();
    signal?.removeEventListener('abort', abort);
  });
}
