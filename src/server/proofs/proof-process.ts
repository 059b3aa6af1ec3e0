import { fork } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { resolve } from 'node:path';
import { isJsonObject } from '../../core/index.ts';
import { packageProgram } from '../../core/internal.ts';
import type { JsonObject } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { Wire } from '../wire/component.ts';
import type { ProofSettings } from './proof-options.ts';

/** What a child process proves. */
export interface ProofTask {
  /** The name of an agent that the module exports. */
  readonly agentName: string;
  /** As text. */
  readonly properties: readonly string[];
  readonly bounds: Wire<'ProofBounds'>;
}

/** Receives the lines of JSON that `petrichor prove --json --progress` writes. */
export type OnProofLine = (line: JsonObject) => void;

/** How a child process ended: with a report, or without one and why. */
export type ProofEnd =
  | { readonly ok: true }
  | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } };

export interface ProofProcess {
  /** Resolves when the process ended. It never rejects. */
  readonly ended: Promise<ProofEnd>;
  /** Ends the process, at the latest after a second, or at once. */
  readonly stop: (signal?: 'SIGKILL') => void;
}

/** How long an interrupted process may still take, in milliseconds. */
const GRACE_MS = 1000;
/** Errors of the module or of the request. The message of any other error goes to the log of the server only. */
const SHOWN_CODES: ReadonlySet<string> = new Set([
  'agent_module',
  'usage',
  'unknown_name',
  'invalid_property',
  'property_syntax',
]);

/**
 * Starts `petrichor prove` as a child process: a search takes a processor for minutes, and a module is loaded once in a
 * process. The child has a lower priority. It ends with this process, however that ends.
 */
export function startProofProcess(
  { module, timeoutMs, memoryMegabytes, env }: ProofSettings,
  { agentName, properties, bounds }: ProofTask,
  {
    clock,
    onLine,
    onError,
  }: {
    readonly clock: Clock;
    readonly onLine: OnProofLine;
    readonly onError: (error: unknown) => void;
  },
): ProofProcess {
  const args = [
    'prove',
    resolve(module),
    '--json',
    '--progress',
    `--agent=${agentName}`,
    `--messages=${bounds.messages}`,
    `--at-once=${bounds.at_once}`,
    `--faults=${bounds.faults}`,
    `--states=${bounds.states}`,
    ...(bounds.shutdowns ? ['--shutdowns'] : []),
    ...properties.map((property) => `--property=${property}`),
  ];
  const child = fork(packageProgram('cli/main'), args, {
    ...(env !== undefined && { env: { ...env } }),
    execArgv: [`--max-old-space-size=${memoryMegabytes}`],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let hasReport = false;
  let failure: JsonObject | undefined;
  let why: string | undefined;
  readLines(child.stdout, (line) => {
    hasReport ||= line['type'] === 'report';
    onLine(line);
  });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-4000);
  });
  let cancelKill = (): void => {};
  const stop = (signal: 'SIGINT' | 'SIGKILL' = 'SIGINT'): void => {
    child.kill(signal);
    cancelKill();
    cancelKill = clock.at(clock.now() + GRACE_MS, () => void child.kill('SIGKILL'));
  };
  const cancelTimeout = clock.at(clock.now() + timeoutMs, () => {
    why = `The proof took longer than ${timeoutMs} ms, and was ended. Set lower bounds, or raise \`proofs.timeoutMs\`.`;
    stop();
  });
  const { promise: ended, resolve: end } = Promise.withResolvers<ProofEnd>();
  const fail = (message: string): void => {
    const { code: failureCode, message: reason } = failure ?? {};
    const code = typeof failureCode === 'string' ? failureCode : '';
    const isShown = why === undefined && SHOWN_CODES.has(code);
    if (!isShown && why === undefined) onError(new Error(`${message} ${stderr}`));
    end({
      ok: false,
      error: isShown
        ? { code, message: typeof reason === 'string' ? reason : message }
        : {
            /**
             * The process of a proof ended without a report: it took too long, needed too much memory, or failed.
             * @remedy Read the message and the log of the server. Set lower bounds.
             */
            code: 'proof_process',
            message: why ?? message,
          },
    });
  };
  child.once('spawn', () => lowerPriority(child.pid));
  child.once('error', () =>
    fail('The process of the proof did not start. See the log of the server.'),
  );
  child.once('close', (code, signal) => {
    cancelTimeout();
    cancelKill();
    failure = parseLine(stderr.trim().split('\n').at(-1) ?? '');
    // A proof that was interrupted reports the rest as unknown.
    if (hasReport && why === undefined) end({ ok: true });
    else
      fail(
        signal === null || signal === 'SIGINT'
          ? `The process of the proof ended with exit code ${code ?? 'none'}. See the log of the server.`
          : `The process of the proof was ended by ${signal}; it may use ${memoryMegabytes} MB of memory. Set lower bounds, or raise \`proofs.memoryMegabytes\`.`,
      );
  });
  return { ended, stop };
}

function readLines(stream: NodeJS.ReadableStream | null, onLine: OnProofLine): void {
  if (stream === null) return;
  createInterface({ input: stream }).on('line', (text) => {
    // The module may write lines of its own.
    const line = parseLine(text);
    if (line !== undefined) onLine(line);
  });
}

function parseLine(text: string): JsonObject | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Without the right to do so, the proof runs at the priority of the server.
  }
}
