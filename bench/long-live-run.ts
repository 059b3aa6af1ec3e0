import { setImmediate as turn } from 'node:timers/promises';
import { InMemoryRunner, LiveRequestQueue, LlmAgent } from '../src/adk/index.ts';
import type { LiveListener, LiveModel } from '../src/live/index.ts';
import { SimulatedClock } from '../src/net/index.ts';

/** What a long live session of a runner keeps in memory. */
export interface LongLiveRun {
  /** Frames of 20 ms in each direction, as fast as possible. */
  readonly frames: number;
  /** Log events that the frames of the user made. */
  readonly recordsOfInput: number;
  /** MB of resident memory that the second half adds. */
  readonly grownMb: number;
  /** MB between the most and the least resident memory in the second half. */
  readonly spreadMb: number;
}

const FRAME_MS = 20;
/** A reply of half a minute. */
const FRAMES_PER_REPLY = 1_500;
const INPUT = { encoding: 'pcm16', sampleRate: 16_000 } as const;
const OUTPUT = { encoding: 'pcm16', sampleRate: 24_000 } as const;

/** Runs `runLive` with half an hour of audio each way: turns of half a minute, on a simulated clock. */
export async function measureLongLiveRun({
  quick,
}: {
  readonly quick: boolean;
}): Promise<LongLiveRun> {
  let listener: LiveListener | undefined;
  const model: LiveModel = {
    name: 'bench',
    open: async (_request, context) => {
      listener = context.listener;
      return {
        inputAudio: INPUT,
        outputAudio: OUTPUT,
        send: async () => {},
        sendAudio: () => true,
        sendImage: () => false,
        bufferedBytes: () => 0,
        pause: () => {},
        resume: () => {},
        close: async () => {},
      };
    },
  };
  const clock = new SimulatedClock();
  const agent = new LlmAgent({ name: 'assistant', model });
  await using runner = new InMemoryRunner({ agent, clock, autoCreateSession: true });
  const queue = new LiveRequestQueue();
  let frames = 0;
  let turns = 0;
  const running = (async () => {
    const address = { userId: 'u', sessionId: 's', liveRequestQueue: queue };
    for await (const event of runner.runLive(address)) {
      if (event.turnComplete === true) turns++;
      if (event.partial === true && event.content?.parts[0] !== undefined) frames++;
    }
  })();
  /** Lets commits happen, and then time pass. */
  const until = async (isTrue: () => boolean): Promise<void> => {
    while (!isTrue()) {
      for (let pass = 0; pass < 12; pass++) await turn();
      clock.advance(FRAME_MS);
    }
  };
  await until(() => listener !== undefined);
  const live = listener;
  if (live === undefined) throw new Error('No connection was opened.');
  const { sessionService } = runner;
  const countEvents = async (): Promise<number> => {
    const store = await sessionService.store();
    const [row] = await store.list({});
    return row?.lastSeq ?? 0;
  };

  const input = { mimeType: 'audio/pcm;rate=16000', data: Buffer.alloc(640).toString('base64') };
  const output = new Uint8Array(960);
  const replies = quick ? 2 : 60;
  const before = await countEvents();
  for (let at = 0; at < replies * FRAMES_PER_REPLY; at++) {
    queue.sendRealtime(input);
    if (at % 100 === 0) await turn();
  }
  await until(() => true);
  const recordsOfInput = (await countEvents()) - before;

  const residentMb: number[] = [];
  for (let number = 1; number <= replies; number++) {
    const reply = `r${number}`;
    live.onSignal({ kind: 'voice', edge: 'started' });
    live.onSignal({ kind: 'voice', edge: 'stopped' });
    live.onSignal({ kind: 'heard', text: 'Speak.' });
    live.onSignal({ kind: 'begun', reply });
    const from = frames;
    for (let at = 0; at < FRAMES_PER_REPLY; at++) {
      queue.sendRealtime(input);
      const fromMs = at * FRAME_MS;
      live.onMedia({ reply, data: output, fromMs, toMs: fromMs + FRAME_MS });
      // The model is no more than four seconds ahead of what the caller has.
      if (at % 50 === 0) await until(() => at - (frames - from) < 200);
    }
    live.onSignal({ kind: 'said', reply, form: 'audio', text: 'Spoken.' });
    live.onSignal({ kind: 'done', reply, finishReason: 'stop', interrupted: false });
    await until(() => turns === number);
    residentMb.push(readResidentMb());
  }
  queue.close();
  let isOver = false;
  const ended = running.finally(() => (isOver = true));
  await until(() => isOver);
  await ended;
  const half = residentMb.slice(Math.floor(residentMb.length / 2));
  return {
    frames,
    recordsOfInput,
    grownMb: (half.at(-1) ?? 0) - (half[0] ?? 0),
    spreadMb: Math.max(...half) - Math.min(...half),
  };
}

/** Resident memory after a collection of garbage. */
function readResidentMb(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss() / 1_048_576;
}
