import { performance } from 'node:perf_hooks';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { LiveHub, liveAgent } from '../src/live/index.ts';
import type { LiveClient, LiveListener, LiveModel, VoiceCall } from '../src/live/index.ts';
import { hydrate } from '../src/runtime/journal/hydrate.ts';
import { openRuntime } from '../src/runtime/index.ts';
import type { Session } from '../src/runtime/index.ts';
import { MemoryStore } from '../src/store/index.ts';
import { atShare, median } from './statistics.ts';

/** What the hub adds to audio, and what audio costs the journal. */
export interface LiveHubCost {
  /** Milliseconds that the hub adds to a frame in either direction, while `sessions` calls run in real time. */
  readonly sessions: number;
  readonly frameMs: number;
  readonly frameMsOfHundred: number;
  /** Milliseconds from the edge of speech to the pause of the client: median and worst. */
  readonly pauseMs: number;
  readonly worstPauseMs: number;
  /** Frames of 20 ms in each direction, as fast as possible. */
  readonly frames: number;
  readonly recordsOfInput: number;
  /** Records for each second of audio of a reply. */
  readonly recordsPerSecond: number;
  /** MB of the heap that the second half of the frames adds. */
  readonly grownMb: number;
}

const FRAME_MS = 20;
const INPUT = { encoding: 'pcm16', sampleRate: 16_000 } as const;
const OUTPUT = { encoding: 'pcm16', sampleRate: 24_000 } as const;

/** A call, and the model's side of it. */
interface BenchCall {
  readonly session: Session;
  readonly call: VoiceCall;
  readonly listener: LiveListener;
  /** When each frame of the reply came from the model. */
  readonly sentTimes: number[];
  readonly received: () => number;
  readonly pausedAt: () => number;
  playsAll: boolean;
}

/** Measures calls in one process, whose models answer at once. */
export async function measureLiveHub({ quick }: { readonly quick: boolean }): Promise<LiveHubCost> {
  const listeners: LiveListener[] = [];
  const latencies: number[] = [];
  let sentAt = 0;
  const model: LiveModel = {
    name: 'bench',
    open: async (_request, { listener }) => {
      listeners.push(listener);
      return {
        inputAudio: INPUT,
        outputAudio: OUTPUT,
        send: async () => {},
        sendAudio: () => {
          latencies.push(performance.now() - sentAt);
          return true;
        },
        sendImage: () => false,
        bufferedBytes: () => 0,
        pause: () => {},
        resume: () => {},
        close: async () =>
          listener.onSignal({ kind: 'closed', reason: 'client', retryable: false }),
      };
    },
  };
  const hub = new LiveHub();
  const store = new MemoryStore();
  await using runtime = await openRuntime({
    agents: [liveAgent({ name: 'assistant', model })],
    store,
    live: hub,
  });
  const open = async (name: string): Promise<BenchCall> => {
    const session = await runtime.session(name);
    let received = 0;
    const sentTimes: number[] = [];
    let pausedAt = 0;
    const client: LiveClient = {
      onAudio: ({ reply, fromMs, toMs }) => {
        latencies.push(performance.now() - (sentTimes[Math.round(fromMs / FRAME_MS)] ?? 0));
        received++;
        if (opened.playsAll) call.played(reply, toMs);
      },
      onPause: () => (pausedAt = performance.now()),
      onResume: () => {},
      onFlush: () => {},
    };
    const call = await hub.call(session, client);
    while (call.inputAudio === undefined) await turn();
    const listener = listeners.at(-1);
    if (listener === undefined) throw new Error('No connection was opened.');
    await turn();
    const opened: BenchCall = {
      session,
      call,
      listener,
      sentTimes,
      received: () => received,
      pausedAt: () => pausedAt,
      playsAll: true,
    };
    listener.onSignal({ kind: 'voice', edge: 'started' });
    listener.onSignal({ kind: 'voice', edge: 'stopped' });
    listener.onSignal({ kind: 'heard', text: 'Speak.' });
    listener.onSignal({ kind: 'begun', reply: 'r1' });
    return opened;
  };
  const input = new Uint8Array(640);
  const output = new Uint8Array(960);
  const sendFrame = (one: BenchCall, at: number): void => {
    sentAt = performance.now();
    one.call.sendAudio(input);
    one.sentTimes[at] = performance.now();
    const fromMs = at * FRAME_MS;
    one.listener.onMedia({ reply: 'r1', data: output, fromMs, toMs: fromMs + FRAME_MS });
  };
  const countRecords = async ({ session }: BenchCall): Promise<number> =>
    (await hydrate(store, session.key)).seq;

  // Unpaced: every frame both ways, and what the journal and the heap keep of them.
  const first = await open('unpaced');
  // The first frame is released when the turn has begun and the reply is accepted.
  sendFrame(first, 0);
  while (first.received() === 0) await turn();
  let before = 0;
  // Then the effects of that turn end, each with a record.
  for (let quiet = 0; quiet < 3;) {
    await sleep(50);
    const count = await countRecords(first);
    quiet = count === before ? quiet + 1 : 0;
    before = count;
  }
  const frames = quick ? 3_000 : 90_000;
  for (let at = 0; at < frames; at++) first.call.sendAudio(input);
  await sleep(50);
  const recordsOfInput = (await countRecords(first)) - before;
  let halfMb = 0;
  for (let at = 1; at < frames; at++) {
    sendFrame(first, at);
    // The model is no more than a window ahead of what the client has.
    while (at - first.received() > 200) await turn();
    if (at === frames / 2) halfMb = heapMb();
  }
  while (first.received() < frames) await turn();
  const grownMb = heapMb() - halfMb;
  const recordsPerSecond =
    ((await countRecords(first)) - before - recordsOfInput) / ((frames * FRAME_MS) / 1000);

  // From the edge to the pause: the client has audio that it has not played.
  const pauses: number[] = [];
  for (let round = 0; round < (quick ? 1 : 20); round++) {
    const one = await open(`barge-in-${round}`);
    one.playsAll = false;
    sendFrame(one, 0);
    while (one.received() === 0) await turn();
    const edgeAt = performance.now();
    one.listener.onSignal({ kind: 'voice', edge: 'started' });
    // The client is paused before the signal returns, so a worse time is that of other processes.
    if (one.pausedAt() === 0) throw new Error('The client was not paused at once.');
    pauses.push(one.pausedAt() - edgeAt);
    await one.call.hangUp();
  }

  // Many calls in real time.
  const sessions = quick ? 5 : 50;
  const calls: BenchCall[] = [];
  // One after another: the newest connection is that of the newest call.
  for (let index = 0; index < sessions; index++) calls.push(await open(`paced-${index}`));
  await sleep(200);
  latencies.length = 0;
  const startedAt = performance.now();
  for (let at = 0; at < (quick ? 10 : 500); at++) {
    for (const one of calls) sendFrame(one, at);
    await sleep(Math.max(0, startedAt + (at + 1) * FRAME_MS - performance.now()));
  }
  const sorted = latencies.toSorted((one, other) => one - other);
  return {
    sessions,
    frameMs: median(sorted),
    frameMsOfHundred: atShare(sorted, 0.99),
    pauseMs: median(pauses),
    worstPauseMs: Math.max(...pauses),
    frames,
    recordsOfInput,
    recordsPerSecond,
    grownMb,
  };
}

function heapMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1_048_576;
}
