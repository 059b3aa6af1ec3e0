import captureUrl from './capture-worklet.ts?worker&url';

/** Samples per second of the frames. */
export const MICROPHONE_RATE = 16_000;

/** The microphone, as frames of 20 ms. */
export class Microphone {
  readonly #stream: MediaStream;
  readonly #context: AudioContext;

  private constructor(stream: MediaStream, context: AudioContext) {
    this.#stream = stream;
    this.#context = context;
  }

  /** Asks for the microphone. @throws DOMException if the user refuses it */
  static async open(onFrame: (frame: Int16Array<ArrayBuffer>) => void): Promise<Microphone> {
    const stream = await navigator.mediaDevices.getUserMedia({
      audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true },
    });
    const context = new AudioContext({ sampleRate: MICROPHONE_RATE });
    await context.audioWorklet.addModule(captureUrl);
    const node = new AudioWorkletNode(context, 'capture', { numberOfOutputs: 0 });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- this also starts the port
    node.port.onmessage = ({ data }: MessageEvent<Int16Array<ArrayBuffer>>) => onFrame(data);
    context.createMediaStreamSource(stream).connect(node);
    await context.resume();
    return new Microphone(stream, context);
  }

  get sampleRate(): number {
    return this.#context.sampleRate;
  }

  async close(): Promise<void> {
    for (const track of this.#stream.getTracks()) track.stop();
    await this.#context.close();
  }
}
