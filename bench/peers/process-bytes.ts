import { existsSync, readFileSync } from 'node:fs';

/** Bytes that this process has passed to the system to be written, by whichever library. Linux only. */
export function writtenBytes(): number {
  const file = '/proc/self/io';
  if (!existsSync(file)) return Number.NaN;
  return Number(/^wchar: (\d+)$/m.exec(readFileSync(file, 'utf8'))?.[1]);
}
