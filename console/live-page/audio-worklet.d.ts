/** The scope of an audio worklet, which the types of the DOM leave out. */
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(
  name: string,
  processor: new () => AudioWorkletProcessor & {
    process: (inputs: Float32Array[][], outputs: Float32Array[][]) => boolean;
  },
): void;
declare const sampleRate: number;
