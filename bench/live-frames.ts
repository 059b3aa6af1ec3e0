import { performance } from 'node:perf_hooks';
import { audioByteLength } from '../src/live/models/audio-format.ts';
import { GEMINI_OUTPUT_AUDIO, GeminiProtocol } from '../src/live/models/gemini/gemini-protocol.ts';
import { LiveReporter } from '../src/live/models/live-reporter.ts';
import { REALTIME_AUDIO, RealtimeProtocol } from '../src/live/models/openai/realtime-protocol.ts';
import type { LiveProtocol, ProtocolHost } from '../src/live/models/socket/live-protocol.ts';
import { SimulatedClock } from '../src/net/index.ts';
import { median } from './statistics.ts';

/** The cost of audio frames in one protocol. */
export interface FrameCost {
  readonly protocol: string;
  /** Bytes of the message of a frame of 20 ms, for each byte of audio: sent and received. */
  readonly sentBytesPerByte: number;
  readonly receivedBytesPerByte: number;
  /** Microseconds of processor time for each frame of 20 ms, without the network. */
  readonly sendMicroseconds: number;
  readonly receiveMicroseconds: number;
}

const FRAME_MS = 20;

/** What a live model adds to each frame: base64 and JSON, both ways. Every frame must arrive. */
export async function measureLiveFrames({
  quick,
}: {
  readonly quick: boolean;
}): Promise<readonly FrameCost[]> {
  const pcm = createAudio(audioByteLength(GEMINI_OUTPUT_AUDIO, FRAME_MS));
  const data = Buffer.from(pcm).toString('base64');
  const gemini = { inlineData: { mimeType: 'audio/pcm;rate=24000', data } };
  return [
    measureProtocol(
      'Gemini Live',
      (host) => new GeminiProtocol('gemini/m', 'm', {}, host),
      [],
      JSON.stringify({ serverContent: { modelTurn: { parts: [gemini] } } }),
      quick,
    ),
    measureProtocol(
      'OpenAI Realtime',
      (host) =>
        new RealtimeProtocol({
          name: 'openai/m',
          request: {},
          transcriptionModel: 't',
          clock: new SimulatedClock(),
          host,
        }),
      [{ type: 'response.created', response: { id: 'resp_1' } }],
      JSON.stringify({
        type: 'response.output_audio.delta',
        event_id: 'event_BqQ7JRiC0HnGVWVQB0XrM',
        response_id: 'resp_1',
        item_id: 'item_BqQ7JJvNkvLfFRZvNqyYC',
        output_index: 0,
        content_index: 0,
        delta: data,
      }),
      quick,
    ),
  ];
}

function measureProtocol(
  protocol: string,
  createProtocol: (host: ProtocolHost) => LiveProtocol,
  before: readonly Readonly<Record<string, unknown>>[],
  frame: string,
  quick: boolean,
): FrameCost {
  let receivedBytes = 0;
  const reporter = new LiveReporter(
    { onSignal: () => undefined, onMedia: (media) => (receivedBytes += media.data.byteLength) },
    REALTIME_AUDIO,
  );
  const none = (): void => undefined;
  const wire = createProtocol({ reporter, send: none, ready: none, refuse: none });
  for (const message of before) wire.receive(message);
  const input = createAudio(audioByteLength(wire.inputAudio, FRAME_MS));
  const frames = quick ? 100 : 20_000;
  const sends: number[] = [];
  const receives: number[] = [];
  let sentBytes = 0;
  for (let round = 0; round < (quick ? 1 : 7); round++) {
    const sendAt = performance.now();
    for (let n = 0; n < frames; n++) sentBytes = wire.encodeAudio(input).length;
    const receiveAt = performance.now();
    for (let n = 0; n < frames; n++) wire.receive(JSON.parse(frame));
    sends.push(((receiveAt - sendAt) / frames) * 1000);
    receives.push(((performance.now() - receiveAt) / frames) * 1000);
  }
  const frameBytes = audioByteLength(REALTIME_AUDIO, FRAME_MS);
  const expected = sends.length * frames * frameBytes;
  if (receivedBytes !== expected) throw new Error(`${receivedBytes} of ${expected} bytes arrived.`);
  return {
    protocol,
    sentBytesPerByte: sentBytes / input.byteLength,
    receivedBytesPerByte: frame.length / frameBytes,
    sendMicroseconds: median(sends),
    receiveMicroseconds: median(receives),
  };
}

function createAudio(byteLength: number): Uint8Array {
  return Uint8Array.from({ length: byteLength }, (_, index) => (index * 31) % 256);
}
