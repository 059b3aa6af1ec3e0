import { InvalidInputError } from '../../../core/index.ts';
import type { PcmAudio } from './speech-services.ts';

const HEADER_BYTES = 44;
const PCM = 1;
const EXTENSIBLE = 0xfffe;

/** PCM as a WAV file. */
export function encodeWave({ pcm, format: { sampleRate } }: PcmAudio): Uint8Array {
  const file = new Uint8Array(HEADER_BYTES + pcm.byteLength);
  const view = new DataView(file.buffer);
  const text = (at: number, value: string): void => file.set(new TextEncoder().encode(value), at);
  text(0, 'RIFF');
  view.setUint32(4, file.byteLength - 8, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, PCM, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, 2 * sampleRate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, pcm.byteLength, true);
  file.set(pcm, HEADER_BYTES);
  return file;
}

/**
 * The audio of a WAV file. Of several channels, the first is taken.
 * @throws InvalidInputError for another format than PCM with 16 bits
 */
export function decodeWave(file: Uint8Array): PcmAudio {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const name = (at: number): string => String.fromCharCode(...file.subarray(at, at + 4));
  if (file.byteLength < 12 || name(0) !== 'RIFF' || name(8) !== 'WAVE') throw waveError();
  let format: { readonly channels: number; readonly sampleRate: number } | undefined;
  for (let at = 12; at + 8 <= file.byteLength;) {
    const start = at + 8;
    // A file that was streamed has no valid sizes: its data goes to its end.
    const end = Math.min(file.byteLength, start + view.getUint32(at + 4, true));
    if (name(at) === 'fmt ' && end - start >= 16) {
      const code = view.getUint16(start, true);
      if ((code !== PCM && code !== EXTENSIBLE) || view.getUint16(start + 14, true) !== 16)
        throw waveError();
      format = {
        channels: view.getUint16(start + 2, true),
        sampleRate: view.getUint32(start + 4, true),
      };
    }
    if (name(at) === 'data' && format !== undefined) {
      const { channels, sampleRate } = format;
      const pcm = firstChannel(file.subarray(start, end), channels);
      return { pcm, format: { encoding: 'pcm16', sampleRate } };
    }
    at = end + ((end - start) % 2);
  }
  throw waveError();
}

function firstChannel(pcm: Uint8Array, channels: number): Uint8Array {
  if (channels <= 1) return pcm;
  const samples = Math.floor(pcm.byteLength / (2 * channels));
  const first = new Uint8Array(2 * samples);
  for (let sample = 0; sample < samples; sample++)
    first.set(pcm.subarray(2 * channels * sample, 2 * channels * sample + 2), 2 * sample);
  return first;
}

function waveError(): InvalidInputError {
  return new InvalidInputError(
    'audio',
    'must be a WAV file of PCM with 16 bits. Choose a speech model that can return WAV.',
  );
}
