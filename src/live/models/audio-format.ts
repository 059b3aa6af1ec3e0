/** Linear PCM: signed 16-bit samples, little-endian, one channel. */
export type AudioFormat = {
  readonly encoding: 'pcm16';
  /** Samples per second. */
  readonly sampleRate: number;
};

const BYTES_PER_SAMPLE = 2;

/** The duration of PCM audio, in milliseconds. */
export function audioDurationMs(format: AudioFormat, byteLength: number): number {
  return (byteLength / BYTES_PER_SAMPLE / format.sampleRate) * 1000;
}

/** The size of PCM audio of a duration in milliseconds, in bytes: whole samples. */
export function audioByteLength(format: AudioFormat, durationMs: number): number {
  return Math.round((durationMs / 1000) * format.sampleRate) * BYTES_PER_SAMPLE;
}
