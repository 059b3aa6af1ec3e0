import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { measureLayout } from './store-layout/measure-layout.ts';

const KB = 1024;

/** What a turn of two tools may cost on disk; the reasons and the figures are in docs/decisions/0002-sqlite-layout.md. */
const MOST_WRITTEN = 40 * KB;
const MOST_RETAINED = 10 * KB;

describe('a turn with two tools on SQLite', () => {
  for (const sessions of [1, 50]) {
    const turns = sessions === 1 ? 200 : 40;

    it(`writes and keeps few bytes with ${sessions} in flight, and the last turn no more than the first`, async () => {
      const { written, retained } = await measureLayout({ sessions, turns });
      const early = mean(written.slice(0, 20));
      const late = mean(written.slice(-20));
      assert.ok(Math.max(early, late) <= MOST_WRITTEN, `${early} and ${late} bytes of log`);
      assert.ok(late <= early * 1.2, `${late} bytes of log late, ${early} early`);
      assert.ok(retained <= MOST_RETAINED, `${retained} bytes kept`);
      assert.ok(retained > KB, `${retained} bytes cannot hold a turn`);
    });
  }
});

function mean(values: readonly number[]): number {
  return values.reduce((a, b) => a + b) / values.length;
}
