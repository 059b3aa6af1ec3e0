/** Prints what a turn of two tools costs on SQLite by page size, beside the raw rate of `write` + `fdatasync` of this disk. */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { measureLayout } from '../test/store-layout/measure-layout.ts';

const PAGE_SIZES = [512, 1024, 2048, 4096];
const IN_FLIGHT = [1, 50];

console.log(`raw write + fdatasync: ${rawRate().toFixed(0)} a second\n`);
console.log('page  in flight  KB written/turn  KB kept/turn  turns/s  commits/s');
for (const pageSize of PAGE_SIZES) {
  for (const sessions of IN_FLIGHT) {
    const turns = sessions === 1 ? 1000 : 200;
    const { written } = await measureLayout({ sessions, turns: 200, pageSize });
    const figures = await measureLayout({ sessions, turns, pageSize, checkpoint: true });
    const columns = [
      String(pageSize).padEnd(4),
      String(sessions).padStart(9),
      kilobytes(written.reduce((a, b) => a + b) / written.length).padStart(15),
      kilobytes(figures.retained).padStart(12),
      figures.turnsPerSecond.toFixed(0).padStart(7),
      figures.commitsPerSecond.toFixed(0).padStart(9),
    ];
    console.log(columns.join('  '));
  }
}
console.log(`\nraw write + fdatasync: ${rawRate().toFixed(0)} a second`);

function kilobytes(bytes: number): string {
  return (bytes / 1024).toFixed(1);
}

/** Appends of 4 KB made durable one by one, a second. */
function rawRate(): number {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-raw-'));
  const file = openSync(join(folder, 'raw'), 'w');
  const block = Buffer.alloc(4096, 1);
  const startedAt = performance.now();
  let writes = 0;
  while (performance.now() - startedAt < 2000) {
    writeSync(file, block);
    fdatasyncSync(file);
    writes++;
  }
  const seconds = (performance.now() - startedAt) / 1000;
  closeSync(file);
  rmSync(folder, { recursive: true });
  return writes / seconds;
}
