import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CrashPoint } from '../crash/killable-store.ts';
import { checkOutcome, talkWithCrashes } from './live-crashes.ts';
import type { LiveOutcome } from './live-crashes.ts';

const points: readonly CrashPoint['point'][] = [
  'before-write',
  'after-write',
  'tool-began',
  'tool-did',
];

test('a conversation continues after a crash at any write, and before and after its tool', async (t) => {
  const calm = await talkWithCrashes([]);
  checkOutcome(calm, calm);
  t.diagnostic(`${calm.records} records: ${calm.conversation.join(' | ')}`);
  let runs = 0;
  for (const point of points) {
    for (let nth = 1; ; nth++) {
      const outcome = await talkWithCrashes([{ point, nth }]);
      if (outcome.deaths === 0) break;
      runs++;
      try {
        checkOutcome(outcome, calm);
      } catch (error) {
        throw new Error(`crash ${point} ${nth}`, { cause: error });
      }
    }
  }
  t.diagnostic(`${runs} crashes`);
  assert.ok(runs > 30, `${runs}`);
});

test('a call that the model canceled keeps its answer after a crash at any write', async (t) => {
  const calm = await talkWithCrashes([], { cancels: true });
  checkOutcome(calm, calm);
  assert.ok(wasCanceled(calm));
  let runs = 0;
  let canceled = 0;
  for (const point of ['before-write', 'after-write'] as const) {
    for (let nth = 1; ; nth++) {
      const outcome = await talkWithCrashes([{ point, nth }], { cancels: true });
      if (outcome.deaths === 0) break;
      runs++;
      if (wasCanceled(outcome)) canceled++;
      try {
        checkOutcome(outcome, calm);
        assert.ok(!wasCanceled(outcome) || outcome.sent.length === 0, 'a canceled result was sent');
      } catch (error) {
        throw new Error(`crash ${point} ${nth}`, { cause: error });
      }
    }
  }
  t.diagnostic(`${runs} crashes, ${canceled} with the cancellation`);
  // A cancellation that was not written is lost with its connection.
  assert.ok(runs > 20 && canceled > 10 && canceled < runs, `${runs} ${canceled}`);
});

function wasCanceled({ conversation }: LiveOutcome): boolean {
  return conversation.some((line) => line.includes('canceled_by_model'));
}
