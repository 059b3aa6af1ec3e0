import { performance } from 'node:perf_hooks';
import { agent, openRuntime } from '../src/index.ts';
import type { Model } from '../src/index.ts';
import { aiSdkModel } from '../src/models/index.ts';
import { parseModelRef } from '../src/models/reference/model-ref.ts';
import { loadProvider } from '../src/models/reference/load-provider.ts';
import type { LanguageModel } from '../src/models/provider/language-model.ts';
import { asStreamPart, openStream } from '../src/models/provider/language-model.ts';
import { wireFormats } from '../test/models/wire/wire-formats.ts';
import type { WireFormat } from '../test/models/wire/wire-format.ts';
import { median } from './statistics.ts';

export interface Bridge {
  readonly formats: readonly BridgeOfFormat[];
}

/** The same bytes of one provider, read by the AI SDK's package alone, with the bridge on it, and with the runtime on that. */
interface BridgeOfFormat {
  readonly name: string;
  readonly rawDeltasPerSecond: number;
  readonly bridgeDeltasPerSecond: number;
  readonly runtimeDeltasPerSecond: number;
  /** How much of the package's own rate is left, median of the rounds. */
  readonly bridgeToRaw: number;
  readonly runtimeToRaw: number;
  /** From the call to the first delta, beyond what the package takes. */
  readonly firstDeltaMsOfBridge: number;
  readonly firstDeltaMsOfRuntime: number;
}

/** Frames that come in one packet. */
const IN_PACKET = 50;
const WORD = ' word';

/** One way to read an answer: when its first delta came and when its last, in ms from the call, and how many there were. */
type Read = () => Promise<{
  readonly first: number;
  readonly last: number;
  readonly count: number;
}>;

/**
 * What the bridge and the runtime cost beside the AI SDK's package, from the same bytes, round by round. No network:
 * `fetch` gives an answer that is there already, so every figure is ours or the package's.
 */
export async function measureBridge({ quick }: { readonly quick: boolean }): Promise<Bridge> {
  const formats: BridgeOfFormat[] = [];
  for (const format of wireFormats) formats.push(await measureFormat(format, quick));
  return { formats };
}

async function measureFormat(format: WireFormat, quick: boolean): Promise<BridgeOfFormat> {
  await using many = await openWays(format, quick ? 200 : 10_000);
  await using few = await openWays(format, 3);
  const rates: Rates[] = [];
  const firsts: Rates[] = [];
  // The first round warms up.
  for (let round = quick ? 0 : -1; round < (quick ? 1 : 4); round++) {
    const rate = await each(many, async (read) => toRate(await read()));
    if (round >= 0) rates.push(rate);
  }
  for (let round = quick ? 0 : -20; round < (quick ? 1 : 100); round++) {
    const first = await each(few, async (read) => (await read()).first);
    if (round >= 0) firsts.push(first);
  }
  const over = (all: readonly Rates[], of: (one: Rates) => number): number => median(all.map(of));
  return {
    name: format.name,
    rawDeltasPerSecond: over(rates, ({ raw }) => raw),
    bridgeDeltasPerSecond: over(rates, ({ bridge }) => bridge),
    runtimeDeltasPerSecond: over(rates, ({ runtime }) => runtime),
    bridgeToRaw: over(rates, ({ raw, bridge }) => bridge / raw),
    runtimeToRaw: over(rates, ({ raw, runtime }) => runtime / raw),
    firstDeltaMsOfBridge: over(firsts, ({ raw, bridge }) => bridge - raw),
    firstDeltaMsOfRuntime: over(firsts, ({ raw, runtime }) => runtime - raw),
  };
}

type Rates = Readonly<Record<'raw' | 'bridge' | 'runtime', number>>;
type Ways = Readonly<Record<'raw' | 'bridge' | 'runtime', Read>> & AsyncDisposable;

async function each(
  { raw, bridge, runtime }: Ways,
  of: (read: Read) => Promise<number>,
): Promise<Rates> {
  return { raw: await of(raw), bridge: await of(bridge), runtime: await of(runtime) };
}

function toRate({ first, last, count }: Awaited<ReturnType<Read>>): number {
  return (count - 1) / ((last - first) / 1000);
}

/** Three ways to read the same answer of so many deltas. Every one of them must arrive. */
async function openWays(format: WireFormat, deltas: number): Promise<Ways> {
  const place = parseModelRef(format.ref('http://127.0.0.1:9/v1'));
  const make = await loadProvider(place);
  const fetch = answering(format, deltas);
  const language = make({ baseUrl: place.baseUrl ?? '', apiKey: 'none', fetch });
  const model = aiSdkModel(language);
  const runtime = await openRuntime({ agents: [agent({ name: 'talker', model })] });
  let sessions = 0;
  return {
    raw: async () => timed(deltas, (heard) => readRaw(language, heard)),
    bridge: async () => timed(deltas, (heard) => readBridge(model, heard)),
    runtime: async () => {
      const session = await runtime.session(`session-${sessions++}`);
      return timed(deltas, async (heard) => {
        for await (const event of session.send('Talk.')) if (event.type === 'partial') heard();
      });
    },
    [Symbol.asyncDispose]: async () => runtime.close(),
  };
}

async function timed(deltas: number, read: (heard: () => void) => Promise<void>): ReturnType<Read> {
  const startedAt = performance.now();
  let count = 0;
  let first = 0;
  let last = 0;
  await read(() => {
    last = performance.now() - startedAt;
    if (count++ === 0) first = last;
  });
  if (count !== deltas) throw new Error(`${count} of ${deltas} deltas arrived.`);
  return { first, last, count };
}

async function readRaw(model: LanguageModel, heard: () => void): Promise<void> {
  const prompt = [{ role: 'user' as const, content: [{ type: 'text', text: 'Talk.' }] }];
  const { signal: abortSignal } = new AbortController();
  const { stream } = await openStream(model, { prompt, abortSignal });
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const part = asStreamPart(read.value);
    // Some packages begin with an empty one, which we do not show.
    if (part?.type === 'text-delta' && part['delta'] !== '') heard();
  }
}

async function readBridge(model: Model, heard: () => void): Promise<void> {
  const { signal } = new AbortController();
  const contents = [{ role: 'user' as const, parts: [{ text: 'Talk.' }] }];
  await model.generate(
    { contents, tools: [] },
    { signal, onDelta: heard, firingId: 'firing', attempt: 1 },
  );
}

/** Answers every request with the same text, in so many frames. */
function answering(format: WireFormat, deltas: number): typeof globalThis.fetch {
  const {
    head,
    deltas: pieces,
    tail,
  } = format.stream({
    deltas: Array.from({ length: deltas }, () => WORD),
    text: WORD.repeat(deltas),
  });
  const frames = [...head, ...pieces, ...tail];
  const packets: Uint8Array[] = [];
  for (let n = 0; n < frames.length; n += IN_PACKET)
    packets.push(new TextEncoder().encode(frames.slice(n, n + IN_PACKET).join('')));
  return async () => {
    const left = packets.values();
    const body = new ReadableStream({
      pull: (controller) => {
        const { value, done } = left.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
}
