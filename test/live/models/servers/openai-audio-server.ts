import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { audioByteLength, audioDurationMs } from '../../../../src/live/models/audio-format.ts';
import type { AudioFormat } from '../../../../src/live/models/audio-format.ts';
import { decodeWave, encodeWave } from '../../../../src/live/models/cascaded/wave-file.ts';
import type { PcmAudio } from '../../../../src/live/models/cascaded/speech-services.ts';

/** The most characters of a text that OpenAI's API speaks. */
const MAX_INPUT = 4_096;
const SPEECH: AudioFormat = { encoding: 'pcm16', sampleRate: 24_000 };
export const API_KEY = 'sk-test-0123456789';

/** A text that was spoken, and how. */
export interface SpokenText {
  readonly model: string;
  readonly input: string;
  readonly voice: string;
  readonly instructions?: string;
}

export interface OpenaiAudioServer extends AsyncDisposable {
  readonly url: string;
  /** Milliseconds of each utterance that was transcribed. */
  readonly heardMs: readonly number[];
  readonly spoken: readonly SpokenText[];
}

/**
 * The audio routes of OpenAI's HTTP API on this machine, with its limits: `/v1/audio/transcriptions` takes a file in a
 * form, `/v1/audio/speech` at most 4,096 characters, and answers with a WAV file whose header has no sizes.
 */
export async function startOpenaiAudioServer({
  transcripts,
  audioMs = 20,
}: {
  readonly transcripts: readonly string[];
  /** The audio of each text that is spoken. Default: 20 milliseconds. */
  readonly audioMs?: number;
}): Promise<OpenaiAudioServer> {
  const heardMs: number[] = [];
  const spoken: SpokenText[] = [];
  const transcribe = async (request: Response): Promise<Response> => {
    const form = await request.formData();
    const file = form.get('file');
    if (typeof form.get('model') !== 'string' || file === null || typeof file === 'string')
      return refuse(400, 'you must provide a model and a file');
    if (!file.name.endsWith('.wav')) return refuse(400, `unsupported file: ${file.name}`);
    const { pcm, format }: PcmAudio = decodeWave(new Uint8Array(await file.arrayBuffer()));
    heardMs.push(audioDurationMs(format, pcm.byteLength));
    return Response.json({ text: transcripts[heardMs.length - 1] ?? '' });
  };
  const speak = async (request: Response): Promise<Response> => {
    const { response_format: format, ...text } = (await request.json()) as SpokenText & {
      readonly response_format?: string;
    };
    if (text.input.trim() === '') return refuse(400, 'input must not be empty');
    if (text.input.length > MAX_INPUT)
      return refuse(400, `string too long: at most ${MAX_INPUT} characters`);
    if (!text.input.isWellFormed()) return refuse(400, 'input is not valid Unicode');
    if (format !== 'wav') return refuse(400, `expected wav, got ${format ?? 'mp3'}`);
    spoken.push(text);
    const samples = new Int16Array(audioByteLength(SPEECH, audioMs) / 2).fill(3_000);
    const wave = Buffer.from(encodeWave({ pcm: new Uint8Array(samples.buffer), format: SPEECH }));
    wave.writeUInt32LE(0xffffffff, 4);
    wave.writeUInt32LE(0xffffffff, 40);
    return new Response(wave, { headers: { 'content-type': 'audio/wav' } });
  };
  const routes = new Map([
    ['/v1/audio/transcriptions', transcribe],
    ['/v1/audio/speech', speak],
  ]);
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { url = '', headers } = incoming;
    const route = routes.get(url);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request = new Response(Buffer.concat(chunks), {
      headers: { 'content-type': headers['content-type'] ?? '' },
    });
    const isKnown = headers.authorization === `Bearer ${API_KEY}`;
    const response =
      route === undefined
        ? refuse(404, `Unknown request URL: ${url}`)
        : isKnown
          ? await route(request)
          : refuse(401, 'Incorrect API key provided');
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  };
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch((error: unknown) => outgoing.destroy(error as Error));
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    heardMs,
    spoken,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function refuse(status: number, message: string): Response {
  return Response.json(
    { error: { message, type: 'invalid_request_error', param: null, code: null } },
    { status },
  );
}
