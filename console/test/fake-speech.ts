import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeWave, encodeWave } from '../../src/live/models/cascaded/wave-file.ts';

const ESPEAK = '/usr/bin/espeak-ng';

/** Why speech cannot be made here. False: it can. */
export const noSpeech: string | false = existsSync(ESPEAK) ? false : `${ESPEAK} is absent`;

/** A text to be spoken, or milliseconds of silence. */
export type SpeechPart = string | number;

/** Writes a WAV file with speech and silences, for the fake microphone of Chromium. */
export function writeSpeech(folder: string, parts: readonly SpeechPart[]): string {
  let sampleRate = 22_050;
  const spoken = parts.map((part, index) => {
    if (typeof part === 'number') return part;
    const file = join(folder, `part-${index}.wav`);
    execFileSync(ESPEAK, ['-v', 'en', '-s', '150', '-w', file, part]);
    const { pcm, format } = decodeWave(readFileSync(file));
    rmSync(file);
    ({ sampleRate } = format);
    return pcm;
  });
  const pcm = Buffer.concat(
    spoken.map((part) =>
      typeof part === 'number' ? Buffer.alloc(2 * Math.round((part * sampleRate) / 1000)) : part,
    ),
  );
  const file = join(folder, 'speech.wav');
  writeFileSync(file, encodeWave({ pcm, format: { encoding: 'pcm16', sampleRate } }));
  return file;
}
