import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

/** About what one commit of a turn adds to the write-ahead log, in bytes. */
const COMMIT_BYTES = 8192;

/** How often a second this file system appends a commit's worth of bytes and syncs them: what no durable store can beat. */
export function measureDiskRate(folder: string, times: number): number {
  const file = join(folder, 'raw');
  const bytes = Buffer.alloc(COMMIT_BYTES, 'x');
  const descriptor = openSync(file, 'w');
  const startedAt = performance.now();
  for (let n = 0; n < times; n++) {
    writeSync(descriptor, bytes);
    fdatasyncSync(descriptor);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  closeSync(descriptor);
  rmSync(file);
  return times / seconds;
}
