import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { assertSameMarking, ExecutorHarness } from '../../../test/nets/executor-harness.ts';
import { oneOf } from '../language/arcs.ts';
import { NetBuildError } from '../language/net-errors.ts';
import { net } from '../language/net.ts';
import type { Net } from '../language/net.ts';
import { place } from '../language/place.ts';
import { effect, pure } from '../language/transition.ts';
import type { CrashPolicy, Transition } from '../language/transition.ts';

const call = place('tool.call', z.string(), { environment: true });
const result = place('tool.result', z.string());
const tools = (more: Partial<Transition>): Net =>
  net('tools', {
    transitions: [
      {
        ...effect('tool.run', {
          take: { call },
          give: oneOf({ result }),
          failed: ({ kind, message }) => ({ result: `${kind}: ${message}` }),
          run: async () => ({ result: '' }),
        }),
        ...more,
      },
    ],
  });

/** A session whose owner died while one call ran. */
function crashed(more: Partial<Transition>, value = 'a'): ExecutorHarness {
  const harness = new ExecutorHarness(tools(more));
  harness.inject(call, value);
  harness.settle(0);
  return harness;
}

/** Returns the same session after this many changes of the owner. */
function recovered(harness: ExecutorHarness, times: number, now = 10): ExecutorHarness {
  let next = harness;
  for (let n = 0; n < times; n++) {
    next = next.restored();
    next.executor.recover(now);
    const before = [...harness.records];
    next.settle(now);
    next.records.unshift(...before);
    harness = next;
  }
  return next;
}

test('a repeatable effect runs again as the next attempt of the same firing', () => {
  const next = recovered(crashed({ onCrash: 'rerun', timeoutMs: 100 }), 1);
  const { firingId, attempt, tokens } = next.attempt('tool.run');
  assert.deepEqual([firingId, attempt, tokens], ['f3', 2, { call: 'a' }]);
  assert.equal(next.executor.nextDueAt, 110);
  assertSameMarking(next.marking, next.records);
});

test('an effect that is not repeatable ends unknown, because it may have happened', () => {
  for (const more of [{}, { onCrash: 'unknown' as const }]) {
    const next = recovered(crashed(more), 1);
    assert.equal(next.running.size, 0);
    assert.deepEqual(next.values(result), [
      'unknown: the process died while this ran: it may have happened',
    ]);
    const ended = next.records.at(-1);
    assert.ok(ended?.kind === 'ended' && ended.outcome === 'unknown');
  }
});

test('the crash policy can depend on the tokens of the firing', () => {
  const onCrash = ({ call }: { call: string }): CrashPolicy =>
    call === 'read' ? 'rerun' : 'unknown';
  assert.equal(recovered(crashed({ onCrash }, 'read'), 1).running.size, 1);
  assert.equal(recovered(crashed({ onCrash }, 'write'), 1).running.size, 0);
});

test('after three crashes with the same firing in flight its outcome is unknown, because it may cause the crashes', () => {
  const harness = crashed({ onCrash: 'rerun' });
  assert.equal(recovered(harness, 2).attempt('tool.run').attempt, 3);
  const third = recovered(crashed({ onCrash: 'rerun' }), 3);
  assert.deepEqual(third.values(result), [
    'unknown: the process died 3 times while this ran: it is not retried',
  ]);
});

test('a firing that waits for its retry keeps waiting: no crash is counted and its due time is kept', () => {
  const harness = crashed({ retry: { attempts: 2, backoff: '5s..5s' } });
  harness.fail(harness.attempt('tool.run'));
  harness.settle(0);
  const next = recovered(harness, 3, 4_000);
  assert.equal(next.executor.nextDueAt, 5_000);
  next.settle(5_000);
  assert.equal(next.attempt('tool.run').attempt, 2);
});

test('after a clean shutdown no outcome is unknown: repeatable effects wait for the next owner, other firings are cancelled', () => {
  const waits = crashed({ onCrash: 'rerun' });
  waits.executor.shutDown(5);
  waits.settle(5);
  assert.equal(waits.summary.at(-1), 'retrying tool.run');
  const next = waits.restored();
  next.executor.recover(10);
  next.settle(10);
  assert.equal(next.attempt('tool.run').attempt, 2);
  const ends = crashed({});
  const { firing } = ends.attempt('tool.run');
  ends.executor.shutDown(5);
  ends.settle(5);
  assert.deepEqual(ends.values(result), ['cancelled: the runtime was shut down']);
  assert.deepEqual(ends.aborted, [firing]);
});

test('a firing that has not begun waits for the next owner under every policy, because nothing happened', () => {
  const harness = crashed({});
  const { firing } = harness.attempt('tool.run');
  harness.executor.shutDown(5, { unbegun: new Set([firing]) });
  harness.settle(5);
  const next = harness.restored();
  next.settle(6);
  assert.deepEqual(next.attempt('tool.run').tokens, { call: 'a' });
});

test('a net that is shutting down starts nothing, not even a retry that is due', () => {
  const harness = crashed({ retry: { attempts: 2, backoff: '1s..1s' } });
  harness.fail(harness.attempt('tool.run'));
  harness.settle(0);
  harness.executor.drain();
  harness.inject(call, 'b');
  harness.settle(1_000);
  assert.equal(harness.running.size, 0);
  assert.deepEqual(harness.values(call), ['b']);
});

test('an effect in flight that the new net does not have is rejected with a clear error', () => {
  const harness = crashed({ onCrash: 'rerun' });
  const other = new ExecutorHarness(net('other', { transitions: [] }), harness.marking);
  assert.throws(
    () => other.executor.recover(1),
    (error) =>
      error instanceof NetBuildError && /a firing of "tool.run" is in flight/.test(error.message),
  );
});

test('a running timer continues after its owner died: recovery does not restart it', () => {
  const parked = place('parked', { environment: true });
  const given = place('given');
  const giveUp = pure('give-up', {
    take: { parked },
    after: 100,
    give: oneOf({ given }),
    run: () => ({ given: null }),
  });
  const harness = new ExecutorHarness(net('parked', { transitions: [giveUp] }));
  harness.inject(parked);
  harness.settle(0);
  for (const next of [recovered(harness, 1, 60), recovered(harness, 2, 60)]) {
    assert.equal(next.executor.nextDueAt, 100);
    next.settle(100);
    assert.equal(next.values(given).length, 1);
  }
});
