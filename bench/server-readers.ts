/** Reads many streams of a server in a process of its own, and says how long events took. */
import { request, Agent } from 'node:http';

export interface ReadersPlan {
  readonly url: string;
  readonly sessions: readonly string[];
  readonly readersEach: number;
  /** A reader is done when its session has been idle so often. */
  readonly turns: number;
}

export interface ReadersReport {
  readonly events: number;
  /** From an event's time in the log to its arrival, in milliseconds. */
  readonly medianMs: number;
  readonly p99Ms: number;
}

const { url, sessions, readersEach, turns }: ReadersPlan = JSON.parse(process.argv[2] ?? '{}');
const agent = new Agent({ maxSockets: Infinity });
const latencies: number[] = [];
const opened: Promise<void>[] = [];
const done: Promise<void>[] = [];
for (const id of sessions)
  for (let reader = 0; reader < readersEach; reader++) {
    const { promise: isOpen, resolve: open } = Promise.withResolvers<void>();
    const { promise: isDone, resolve: end } = Promise.withResolvers<void>();
    opened.push(isOpen);
    done.push(isDone);
    read(id, open, end);
    // A thousand connections in one moment are more than a listener keeps waiting.
    if (opened.length % 50 === 0) await Promise.all(opened);
  }
await Promise.all(opened);
process.send?.('open');
await Promise.all(done);
latencies.sort((a, b) => a - b);
const at = (part: number): number => latencies[Math.floor(latencies.length * part)] ?? Number.NaN;
const report: ReadersReport = { events: latencies.length, medianMs: at(0.5), p99Ms: at(0.99) };
process.send?.(report);

function read(id: string, open: () => void, end: () => void): void {
  let rest = '';
  let idle = 0;
  const asking = request(
    `${url}/v1/sessions/${id}/events/stream?from_seq=0`,
    { agent },
    (reply) => {
      if (reply.statusCode !== 200) throw new Error(`The server answered ${reply.statusCode}.`);
      reply.setEncoding('utf8').on('data', (text: string) => {
        open();
        const now = Date.now();
        const frames = (rest + text).split('\n\n');
        rest = frames.pop() ?? '';
        for (const frame of frames) {
          const [, data] = /^data: (.*)$/m.exec(frame) ?? [];
          if (data === undefined) continue;
          const event: { readonly type: string; readonly processed_at: string } = JSON.parse(data);
          latencies.push(now - Date.parse(event.processed_at));
          if (event.type === 'session.status_idle' && ++idle === turns) end();
        }
      });
    },
  );
  asking.end();
}
