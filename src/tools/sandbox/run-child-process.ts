import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex, type Readable, type Writable } from 'node:stream';
import { BoundedOutput } from './bounded-output.ts';
import type { SandboxEnd, SandboxLimits, SandboxResult } from './sandbox.ts';
import { SandboxUnavailableError } from './sandbox-unavailable-error.ts';

/** A program of the host, and all it is given. */
export interface ChildPlan {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: { readonly [name: string]: string };
  readonly stdin: string;
  /** What it can read from file descriptors 3, 4, … */
  readonly inputs: readonly string[];
  /** The two descriptors after these: one it reports on, and one on which it says that it is ready, and waits. */
  readonly gated: boolean;
  /** It leads a process group of its own. */
  readonly detached: boolean;
}

/** How to watch and end what was started. */
export interface ChildGuard {
  readonly limits: SandboxLimits;
  readonly signal: AbortSignal | undefined;
  /** Kills the child and everything under it. */
  readonly kill: (child: ChildProcess) => void;
  /** Bytes that all of it holds now. */
  readonly measureMemory?: (pid: number) => Promise<number>;
  /** Resolves when nothing of it is left, given what it has reported. */
  readonly waitForExit?: (report: string) => Promise<void>;
}

export interface ChildProcessOutcome extends SandboxResult {
  readonly report: string;
}

const MAX_REPORT_LENGTH = 4_096;
const MEMORY_POLL_INTERVAL_MS = 100;
/** Who left the group and kept an output open is waited for no longer than this. */
const OPEN_OUTPUT_GRACE_MS = 500;

/** Runs a child to its end within its limits. @throws SandboxUnavailableError when it cannot be started. */
export async function runChildProcess(
  plan: ChildPlan,
  guard: ChildGuard,
): Promise<ChildProcessOutcome> {
  const { limits, signal, kill } = guard;
  signal?.throwIfAborted();
  using reported = plan.gated ? reportFile() : undefined;
  const child = spawn(plan.file, plan.args, {
    env: plan.env,
    detached: plan.detached,
    ...(plan.cwd === undefined ? {} : { cwd: plan.cwd }),
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
  const gate = new Gate(plan.gated ? child.stdio.at(-1) : undefined);
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

/**
 * Lets a child begin. Until it is ready it cannot be killed with all it has started, for it is still starting what will
 * take care of that: one that is to end is not let begin, and ends by itself. So it does when this process is gone.
 */
class Gate {
  readonly #stream: Duplex | undefined;
  #state: 'waiting' | 'passed' | 'closed';

  constructor(stream: Readable | Writable | null | undefined) {
    this.#stream = stream instanceof Duplex ? stream : undefined;
    this.#state = this.#stream === undefined ? 'passed' : 'waiting';
    this.#stream?.on('error', () => undefined);
    this.#stream?.once('data', () => {
      if (this.#state !== 'waiting') return;
      this.#state = 'passed';
      this.#stream?.write('go\n');
    });
  }

  close(): 'passed' | 'closed' {
    if (this.#state === 'waiting') {
      this.#state = 'closed';
      this.#stream?.destroy();
    }
    return this.#state === 'passed' ? 'passed' : 'closed';
  }
}

/**
 * What a child reports on. A file and no pipe: when this process dies while the child sets itself up, a report that
 * nobody takes would end the child halfway, and leave there what it has started.
 */
function reportFile(): Disposable & { readonly fd: number; readonly text: () => string } {
  const path = join(tmpdir(), `petrichor-report-${randomUUID()}`);
  const fd = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return {
    fd,
    text: () => {
      const bytes = Buffer.alloc(MAX_REPORT_LENGTH);
      return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, 0));
    },
    [Symbol.dispose]: () => closeSync(fd),
  };
}

function captureOutput(
  stream: Readable | Writable | null | undefined,
  bytes: number,
): BoundedOutput {
  const output = new BoundedOutput(bytes);
  stream?.on('data', (chunk: Buffer) => output.add(chunk));
  // It breaks when its writer is killed, and that is told otherwise.
  stream?.on('error', () => undefined);
  return output;
}

function writeInput(stream: Readable | Writable | null | undefined, text: string): void {
  if (stream === null || stream === undefined || !('end' in stream)) return;
  // Whoever does not read to the end breaks it: its own choice.
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
  // What it left running holds its outputs open: it goes with it.
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
