import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ESPEAK = '/usr/bin/espeak-ng';

/** Why speech cannot be made here. False: it can. */
export const noSpeech: string | false = existsSync(ESPEAK) ? false : `${ESPEAK} is absent`;

/** A text to be spoken, or milliseconds of silence. */
export type SpeechPart = string | number;

/** Writes a WAV file with speech and silences, for the fake microphone of Chromium. */
export function writeSpeech(folder: string, parts: readonly SpeechPart[]): string {
  let rate = 22_050;
  const spoken = parts.map((part, index) => {
    if (typeof part === 'number') return part;
    const file = join(folder, `part-${index}.wav`);
    execFileSync(ESPEAK, ['-v', 'en', '-s', '150', '-w', file, part]);
    const wave = readFileSync(file);
    rmSync(file);
    rate = wave.readUInt32LE(24);
    return wave.subarray(wave.indexOf('data') + 8);
  });
  const pcm = Buffer.concat(
    spoken.map((part) =>
      typeof part === 'number' ? Buffer.alloc(2 * Math.round((part * rate) / 1000)) : part,
    ),
  );
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + pcm.byteLength, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(2 * rate, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(pcm.byteLength, 40);
  const file = join(folder, 'speech.wav');
  writeFileSync(file, Buffer.concat([header, pcm]));
  return file;
}
