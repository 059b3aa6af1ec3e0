import { setTimeout as sleep } from 'node:timers/promises';
import { defineCommand, type Command } from '../command/command.ts';
import { EXIT_FAILURE, EXIT_OK } from '../command/exit-code.ts';
import { UsageError } from '../command/usage-error.ts';
import { parseDuration } from '../terminal/duration.ts';

const DEFAULT_TIMEOUT = '60s';
const POLL_MS = 50;

/** The command that stops a server, and waits until another one can have its sessions. */
export const drainCommand: Command = defineCommand({
  name: 'drain',
  operands: ['PID'],
  summary: 'Stop a server of this machine, after it has handed over its sessions',
  description: [
    'Sends SIGTERM to the process of petrichor serve, and waits until it has ended. Until then, the server accepts no',
    'requests that may change something, starts no calls, and waits for those that run, at most for its --drain-timeout.',
    'Other servers of the store continue its sessions. In a container, the server often has the PID 1.',
  ].join('\n'),
  options: {
    timeout: {
      type: 'string',
      value: 'TIME',
      summary: `How long to wait; longer than the --drain-timeout of the server: 90s, 5m. Default: ${DEFAULT_TIMEOUT}`,
    },
  },
  run: async ({ values, operands: [text = ''], stdout, signalProcess }) => {
    const pid = parsePid(text);
    const timeoutMs = parseTimeout(values.timeout ?? DEFAULT_TIMEOUT);
    const wasRunning = signalProcess(pid, 'SIGTERM');
    const deadline = performance.now() + timeoutMs;
    while (signalProcess(pid, 0) && performance.now() < deadline) await sleep(POLL_MS);
    const stopped = !signalProcess(pid, 0);
    const sentence = !wasRunning
      ? `No process has the PID ${pid}.`
      : stopped
        ? `The server ${pid} has stopped.`
        : `The server ${pid} still runs after ${values.timeout ?? DEFAULT_TIMEOUT}. Wait with a longer --timeout, or end it: another server then takes its sessions over.`;
    const facts = { pid, wasRunning, stopped };
    stdout.write(values.json ? `${JSON.stringify(facts)}\n` : `${sentence}\n`);
    return wasRunning && stopped ? EXIT_OK : EXIT_FAILURE;
  },
});

/** @throws UsageError */
function parsePid(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(
    `PID must be the number of the process of petrichor serve; it is "${text}".`,
    'drain',
  );
}

/** @throws UsageError */
function parseTimeout(text: string): number {
  const ms = text === '0' ? 0 : parseDuration(text);
  if (ms !== undefined) return ms;
  throw new UsageError(
    `--timeout must be 0 or a duration such as 90s or 5m; it is "${text}".`,
    'drain',
  );
}
