import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { measureLayout } from './store-layout/measure-layout.ts';

const KB = 1024;

/**
 * Limits for a turn with two tools on disk. docs/decisions/0125-small-pages.md has the reasons
 * and figures.
 */
const MAX_WRITTEN_BYTES = 20 * KB;
const MAX_RETAINED_BYTES = 8 * KB;

describe('a turn with two tools on SQLite', () => {
  for (const sessions of [1, 50]) {
    const turns = sessions === 1 ? 200 : 40;

    it(`writes and retains few bytes with ${sessions} concurrent sessions, and late turns cost no more than early ones`, async () => {
      const { written, retained } = await measureLayout({ sessions, turns });
      const early = mean(written.slice(0, 20));
      const late = mean(written.slice(-20));
      assert.ok(Math.max(early, late) <= MAX_WRITTEN_BYTES, `${early} and ${late} bytes of log`);
      // The first turns of many sessions share pages. Later each session has its own, as one session alone has.
      if (sessions === 1)
        assert.ok(late <= early * 1.2, `${late} bytes of log late, ${early} early`);
      assert.ok(retained <= MAX_RETAINED_BYTES, `${retained} bytes kept`);
      assert.ok(retained > KB, `${retained} bytes cannot hold a turn`);
    });
  }
});

function mean(values: readonly number[]): number {
  return values.reduce((a, b) => a + b) / values.length;
}
