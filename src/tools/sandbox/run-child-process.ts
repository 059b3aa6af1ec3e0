import { omitUndefined } from '../../core/internal.ts';
import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { BoundedOutput } from './bounded-output.ts';
import { ChildGate } from './child-gate.ts';
import { openReportFile } from './report-file.ts';
import type { SandboxLimits } from './sandbox-limits.ts';
import type { SandboxEnd, SandboxResult } from './sandbox.ts';
import { SandboxUnavailableError } from './sandbox-unavailable-error.ts';

/** A program of the host with everything it receives. */
export interface ChildPlan {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: { readonly [name: string]: string };
  readonly stdin: string;
  /** Texts that the child reads from file descriptors 3, 4, … */
  readonly inputs: readonly string[];
  /**
   * Adds two descriptors after the inputs: one for the child's report, and one on which it reports
   * that it is ready and then waits.
   */
  readonly gated: boolean;
  /** Starts the child in a process group of its own. */
  readonly detached: boolean;
}

/** How to watch and end the child. */
export interface ChildGuard {
  readonly limits: SandboxLimits;
  readonly signal: AbortSignal | undefined;
  /** Kills the child and its descendants. */
  readonly kill: (child: ChildProcess) => void;
  /** The bytes that the child and its descendants hold now. */
  readonly measureMemory?: (pid: number) => Promise<number>;
  /** Resolves when no process is left. It receives the child's report. */
  readonly waitForExit?: (report: string) => Promise<void>;
}

export interface ChildProcessOutcome extends SandboxResult {
  readonly report: string;
}

const MEMORY_POLL_INTERVAL_MS = 100;
/** How long to wait for an output that a process outside the group keeps open. */
const OPEN_OUTPUT_GRACE_MS = 500;

/**
 * Runs a child to its end within its limits.
 * @throws SandboxUnavailableError if it cannot be started
 */
export async function runChildProcess(
  plan: ChildPlan,
  guard: ChildGuard,
): Promise<ChildProcessOutcome> {
  const { limits, signal, kill } = guard;
  signal?.throwIfAborted();
  using reported = plan.gated ? openReportFile() : undefined;
  const child = spawn(plan.file, plan.args, {
    env: plan.env,
    detached: plan.detached,
    ...omitUndefined({ cwd: plan.cwd }),
    stdio: [
      'pipe',
      'pipe',
      'pipe',
      ...plan.inputs.map(() => 'pipe' as const),
      ...(reported === undefined ? [] : [reported.fd, 'pipe' as const]),
    ],
  });
  const stdout = captureOutput(child.stdout, limits.outputBytes);
  const stderr = captureOutput(child.stderr, limits.outputBytes);
  const gate = new ChildGate(plan.gated ? child.stdio.at(-1) : undefined);
  [plan.stdin, ...plan.inputs].forEach((text, i) =>
    writeInput(child.stdio[i === 0 ? 0 : i + 2], text),
  );

  let endedBy: SandboxEnd = 'exit';
  const stop = (): void => {
    if (gate.close() === 'passed') kill(child);
  };
  const end = (by: SandboxEnd): void => {
    if (endedBy === 'exit') endedBy = by;
    stop();
  };
  const onAbort = (): void => stop();
  signal?.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => end('time limit'), limits.timeMs);
  const watch = watchMemory(child, guard, () => end('memory limit'));
  try {
    const exitCode = await waitForClose(child, kill, !plan.gated);
    const report = reported?.text() ?? '';
    await guard.waitForExit?.(report);
    signal?.throwIfAborted();
    return {
      endedBy,
      exitCode: endedBy === 'exit' ? exitCode : null,
      stdout: stdout.text(),
      stderr: stderr.text(),
      truncated: stdout.truncated || stderr.truncated,
      report,
    };
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    signal?.removeEventListener('abort', onAbort);
  }
}

function captureOutput(
  stream: Readable | Writable | null | undefined,
  bytes: number,
): BoundedOutput {
  const output = new BoundedOutput(bytes);
  stream?.on('data', (chunk: Buffer) => output.add(chunk));
  // The stream breaks when its writer is killed. `endedBy` reports that.
  stream?.on('error', () => undefined);
  return output;
}

function writeInput(stream: Readable | Writable | null | undefined, text: string): void {
  if (stream === null || stream === undefined || !('end' in stream)) return;
  // The stream breaks when the child does not read all its input, which it is free to do.
  stream.on('error', () => undefined);
  stream.end(text);
}

function watchMemory(
  child: ChildProcess,
  { measureMemory, limits }: ChildGuard,
  onTooMuch: () => void,
): NodeJS.Timeout | undefined {
  const { pid } = child;
  if (measureMemory === undefined || pid === undefined) return undefined;
  let checking = false;
  const check = async (): Promise<void> => {
    if (checking || child.exitCode !== null) return;
    checking = true;
    const bytes = await measureMemory(pid);
    checking = false;
    if (bytes > limits.memoryBytes) onTooMuch();
  };
  return setInterval(() => void check(), MEMORY_POLL_INTERVAL_MS);
}

const SIGNAL_EXIT_CODE = 128 + 9;

async function waitForClose(
  child: ChildProcess,
  kill: (child: ChildProcess) => void,
  mayLeak: boolean,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let grace: NodeJS.Timeout | undefined;
  child.once('error', (cause) => {
    const { message } = cause;
    reject(new SandboxUnavailableError(`${message}.`, { cause }));
  });
  // Processes that it left running hold its outputs open, so they are killed with it.
  child.once('exit', () => {
    kill(child);
    if (!mayLeak) return;
    grace = setTimeout(() => {
      for (const stream of child.stdio) stream?.destroy();
    }, OPEN_OUTPUT_GRACE_MS);
  });
  child.once('close', (code) => {
    clearTimeout(grace);
    resolve(code ?? SIGNAL_EXIT_CODE);
  });
  return promise;
}
