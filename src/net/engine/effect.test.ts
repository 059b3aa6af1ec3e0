import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { ExecutorHarness } from '../../../test/nets/executor-harness.ts';
import { all, allOf, each, matching, oneOf, upTo } from '../language/arcs.ts';
import { initialToken, net } from '../language/net.ts';
import type { Net } from '../language/net.ts';
import { place } from '../language/place.ts';
import { effect, pure, running } from '../language/transition.ts';
import type { Effect, Transition } from '../language/transition.ts';

const call = place('tool.call', z.string(), { environment: true });
const result = place('tool.result', z.string());
const stop = place('turn.stop', { environment: true });
const of = (...transitions: readonly Transition[]): Net => net('tools', { transitions });

type Run = Effect<{ readonly call: typeof call }>;

/** An effect whose result the test decides. */
function tool(more: Partial<Pick<Transition, 'concurrency' | 'timeoutMs' | 'retry'>> = {}): Run {
  const run = effect('tool.run', {
    take: { call },
    give: oneOf({ result }),
    failed: ({ kind, message, attempt }, { call }) => ({
      result: `${call} ${kind} ${attempt}: ${message}`,
    }),
    run: async () => ({ result: '' }),
  });
  return { ...run, ...more };
}

test('an effect holds its inputs while it runs, and produces its outputs once', () => {
  const harness = new ExecutorHarness(of(tool()));
  harness.inject(call, 'a');
  harness.inject(call, 'b');
  harness.settle(1);
  const [a, b] = [...harness.running.values()];
  assert.ok(a && b);
  assert.deepEqual([a.tokens['call'], b.tokens['call']], ['a', 'b']);
  assert.deepEqual(harness.values(call), []);
  harness.finish(b, { result: 'B' });
  harness.fail(a);
  harness.finish(b, { result: 'again' });
  harness.settle(2);
  assert.deepEqual(harness.values(result), ['B', 'a error 1: no']);
  assert.deepEqual(harness.summary.slice(3), [
    'started tool.run',
    'started tool.run',
    'ended tool.run',
    'ended tool.run',
    'discarded tool.run',
  ]);
});

test('five parallel calls, one of which times out, produce four results and one failure', () => {
  const harness = new ExecutorHarness(
    of(tool({ timeoutMs: ({ call }: { call: string }) => Number(call) * 10 })),
  );
  for (const n of '12345') harness.inject(call, n);
  harness.settle(0);
  const attempts = [...harness.running.values()];
  harness.settle(10);
  harness.now = 60;
  // All of these are due too, but an available result comes before a timeout.
  for (const attempt of attempts.slice(1)) {
    harness.finish(attempt, { result: `${String(attempt.tokens['call'])} ok` });
  }
  harness.settle(60);
  assert.deepEqual(harness.values(result), [
    '1 unknown 1: no result within 0.01 s, and it did not stop',
    '2 ok',
    '3 ok',
    '4 ok',
    '5 ok',
  ]);
  assert.deepEqual(harness.aborted, [attempts[0]?.firing]);
});

test('a timeout ends one firing and leaves the other firings of the transition running', () => {
  const harness = new ExecutorHarness(of(tool({ timeoutMs: 100 })));
  harness.inject(call, 'a');
  harness.settle(0);
  harness.inject(call, 'b');
  harness.settle(50);
  harness.settle(100);
  assert.deepEqual(harness.values(result), [
    'a unknown 1: no result within 0.1 s, and it did not stop',
  ]);
  assert.equal(harness.running.size, 1);
  assert.equal(harness.executor.nextDueAt, 150);
});

test('concurrency limits the firings in flight, including those that wait for a retry', () => {
  const harness = new ExecutorHarness(
    of(tool({ concurrency: 2, retry: { attempts: 2, backoff: '1s..1s' } })),
  );
  for (const n of 'abcd') harness.inject(call, n);
  harness.settle(0);
  assert.equal(harness.running.size, 2);
  harness.fail(harness.attempt('tool.run'));
  harness.settle(0);
  assert.deepEqual(harness.values(call), ['c', 'd']);
  harness.finish(harness.attempt('tool.run'), { result: 'b' });
  harness.settle(0);
  assert.deepEqual(harness.values(call), ['d']);
});

test('a firing that waits for a retry keeps its number, its inputs and its id', () => {
  const harness = new ExecutorHarness(of(tool({ retry: { attempts: 3, backoff: '1s..30s' } })));
  harness.inject(call, 'a');
  const seen: unknown[] = [];
  for (const now of [0, 1000, 3000]) {
    if (now > 0) harness.settle(now - 1);
    assert.equal(harness.running.size, 0);
    harness.settle(now);
    const attempt = harness.attempt('tool.run');
    seen.push([attempt.firingId, attempt.attempt, attempt.tokens]);
    harness.fail(attempt);
  }
  harness.settle(3000);
  assert.deepEqual(
    seen,
    [1, 2, 3].map((attempt) => ['f3', attempt, { call: 'a' }]),
  );
  assert.deepEqual(harness.values(result), ['a error 3: no']);
});

test('an attempt that times out is retried, and its late result is discarded', () => {
  const harness = new ExecutorHarness(
    of(tool({ timeoutMs: 100, retry: { attempts: 2, backoff: '1s..1s' } })),
  );
  harness.inject(call, 'a');
  harness.settle(0);
  const first = harness.attempt('tool.run');
  harness.settle(100);
  harness.finish(first, { result: 'too late' });
  harness.settle(100);
  assert.equal(harness.executor.nextDueAt, 1100);
  harness.settle(1100);
  harness.finish(first, { result: 'still too late' });
  harness.settle(1150);
  assert.deepEqual(harness.values(result), []);
  harness.settle(1200);
  assert.deepEqual(harness.values(result), [
    'a unknown 2: no result within 0.1 s, and it did not stop',
  ]);
  assert.deepEqual(harness.summary.filter((line) => line.startsWith('discarded')).length, 2);
});

test('a backoff function computes the delay from the failure, or ends the retries', () => {
  const backoff = ({ message }: { message: string }): number | undefined =>
    message === 'busy' ? 250 : undefined;
  const harness = new ExecutorHarness(of(tool({ retry: { attempts: 9, backoff } })));
  harness.inject(call, 'a');
  harness.settle(0);
  harness.fail(harness.attempt('tool.run'), new Error('busy'));
  harness.settle(0);
  assert.equal(harness.executor.nextDueAt, 250);
  harness.settle(250);
  harness.fail(harness.attempt('tool.run'), new Error('broken'));
  harness.settle(250);
  assert.deepEqual(harness.values(result), ['a error 2: broken']);
});

test('an output value that does not match its schema fails the effect', () => {
  const harness = new ExecutorHarness(of(tool()));
  harness.inject(call, 'a');
  harness.inject(call, 'b');
  harness.settle(0);
  harness.finish(harness.attempt('tool.run'), { result: 5 });
  harness.finish(harness.attempt('tool.run'), undefined);
  harness.settle(0);
  const [a, b] = harness.values(result);
  assert.match(String(a), /^a error 1: A token for place "tool.result" does not match its schema/);
  assert.match(String(b), /^b error 1: Transition "tool.run" returned undefined/);
});

test('taking a firing cancels it, and a late result changes nothing', () => {
  const run = tool();
  const cancel = pure('turn.cancel', {
    take: { stop, firings: all(running(run), { min: 0 }) },
    give: allOf({ results: upTo(8, result) }),
    run: ({ firings }) => ({ results: firings.map(({ inputs }) => `cancelled ${inputs.call}`) }),
  });
  const harness = new ExecutorHarness(of(run, cancel));
  harness.inject(call, 'a');
  harness.inject(call, 'b');
  harness.settle(0);
  const attempts = [...harness.running.values()];
  const firings = attempts.map(({ firing }) => firing);
  assert.deepEqual(harness.executor.findAborted(stop.name, null), firings);
  harness.inject(stop);
  harness.settle(1);
  assert.deepEqual(harness.aborted, firings);
  for (const attempt of attempts) harness.finish(attempt, { result: 'late' });
  harness.settle(2);
  assert.deepEqual(harness.values(result), ['cancelled a', 'cancelled b']);
  assert.equal(harness.executor.nextDueAt, undefined);
});

test('the marking stays as it is while the firings that an input would cancel are searched', () => {
  const run = tool();
  const named = place('named', z.string(), { environment: true });
  let seen: string[] | undefined;
  const cancel = pure('turn.cancel', {
    take: {
      named: matching(named, (name) => {
        seen = [...harness.marking.tokens.keys()];
        return name;
      }),
      firing: matching(running(run), ({ inputs }) => inputs.call),
    },
    give: oneOf({ result }),
    run: () => ({ result: 'cancelled' }),
  });
  const harness = new ExecutorHarness(of(run, cancel));
  harness.inject(call, 'a');
  harness.inject(call, 'b');
  harness.settle(0);
  const [, second] = [...harness.running.values()];
  const before = structuredClone(harness.marking);
  assert.deepEqual(harness.executor.findAborted(named.name, 'b'), [second?.firing]);
  assert.deepEqual(seen, []);
  assert.deepEqual(harness.marking, before);
});

test('resetting firings cancels them, and the firings to cancel are known before the reset', () => {
  const run = tool();
  const drop = pure('turn.drop', {
    take: { stop },
    unless: [result],
    reset: [running(run)],
    give: allOf({}),
    run: () => ({}),
  });
  const harness = new ExecutorHarness(of(run, drop));
  harness.inject(call, 'a');
  harness.settle(0);
  const { firing } = harness.attempt('tool.run');
  assert.deepEqual(harness.executor.findAborted(stop.name, null), [firing]);
  assert.deepEqual(harness.executor.findAborted(call.name, 'b'), []);
  assert.deepEqual(harness.executor.findAborted(stop.name, 'not a unit'), []);
  harness.inject(stop);
  harness.settle(0);
  assert.deepEqual(harness.aborted, [firing]);
  assert.equal(harness.marking.firings.size, 0);
});

test('a firing that waits for its retry can be taken and reset like a running one', () => {
  const run = tool({ retry: { attempts: 3, backoff: '1s..1s' } });
  const cancel = pure('turn.cancel', {
    take: { stop, firings: all(running(run)) },
    give: allOf({ results: each('firings', result) }),
    run: ({ firings }) => ({
      results: firings.map(
        ({ firingId, attempt, inputs }) => `${firingId} ${attempt} ${inputs.call}`,
      ),
    }),
  });
  const harness = new ExecutorHarness(of(run, cancel));
  harness.inject(call, 'a');
  harness.settle(0);
  harness.fail(harness.attempt('tool.run'));
  harness.settle(0);
  harness.inject(stop);
  harness.settle(0);
  assert.deepEqual(harness.values(result), ['f3 1 a']);
  assert.equal(harness.executor.nextDueAt, undefined);
  harness.settle(5000);
  assert.equal(harness.running.size, 0);
});

test('a transition can wait until an effect no longer runs, or read it while it runs', () => {
  const run = tool({ retry: { attempts: 2, backoff: '1s..1s' } });
  const quiet = place('quiet');
  const status = place('status', z.array(z.string()).readonly());
  const rest = pure('rest', {
    take: { stop },
    unless: [running(run)],
    give: oneOf({ quiet }),
    run: () => ({ quiet: null }),
  });
  const ask = place('ask', { environment: true });
  const look = pure('look', {
    take: { ask },
    read: { firings: all(running(run)) },
    give: oneOf({ status }),
    run: ({ firings }) => ({
      status: firings.map(({ inputs, attempt }) => `${inputs.call} ${attempt}`),
    }),
  });
  const harness = new ExecutorHarness(of(run, rest, look));
  harness.inject(ask);
  harness.inject(stop);
  harness.settle(0);
  assert.deepEqual(harness.values(quiet), [null]);
  assert.deepEqual(harness.values(status), []);
  harness.inject(call, 'a');
  harness.inject(stop);
  harness.settle(0);
  assert.deepEqual(harness.values(quiet), [null], 'it waits while the effect runs');
  harness.fail(harness.attempt('tool.run'));
  harness.settle(0);
  assert.deepEqual(harness.values(status), [['a 1']]);
  assert.equal(
    harness.values(quiet).length,
    1,
    'it still waits while the effect waits for its retry',
  );
  harness.settle(1000);
  harness.finish(harness.attempt('tool.run'), { result: 'ok' });
  harness.settle(1000);
  assert.equal(harness.values(quiet).length, 2);
});

test('an effect whose firing is gone at the end of the settled step is not begun', () => {
  const run = tool();
  const drop = pure('drop', {
    take: { firing: running(run), stop },
    give: oneOf({ result }),
    run: ({ firing }) => ({ result: `never ran ${firing.inputs.call}` }),
  });
  const harness = new ExecutorHarness(of(run, drop));
  harness.inject(call, 'a');
  harness.inject(stop);
  harness.settle(0);
  assert.equal(harness.running.size, 0);
  assert.deepEqual(harness.values(result), ['never ran a']);
});

test('an inhibitor of an effect is evaluated at its start only', () => {
  const busy = place('busy', { environment: true });
  const harness = new ExecutorHarness(of({ ...tool(), unless: [busy] }));
  harness.inject(call, 'a');
  harness.settle(0);
  harness.inject(busy);
  harness.inject(call, 'b');
  harness.settle(0);
  assert.deepEqual(harness.values(call), ['b']);
  harness.finish(harness.attempt('tool.run'), { result: 'ok' });
  harness.settle(0);
  assert.deepEqual(harness.values(result), ['ok']);
});

test('every attempt of an effect reads the values from its start', () => {
  const note = place('note', z.string(), { environment: true });
  const run: Transition = {
    ...tool({ retry: { attempts: 2, backoff: '1s..1s' } }),
    read: { note, notes: all(place('notes', z.string(), { environment: true }), { min: 0 }) },
  };
  const forget = pure('forget', {
    take: { stop },
    reset: [note],
    give: allOf({}),
    run: () => ({}),
  });
  const harness = new ExecutorHarness(
    net('tools', { transitions: [run, forget], initial: [initialToken(note, 'old')] }),
  );
  harness.inject('notes', 'x');
  harness.inject(call, 'a');
  harness.settle(0);
  const read = { call: 'a', note: 'old', notes: ['x'] };
  assert.deepEqual(harness.attempt('tool.run').tokens, read);
  harness.inject(stop);
  harness.inject('notes', 'y');
  harness.settle(0);
  harness.inject(note, 'new');
  harness.fail(harness.attempt('tool.run'));
  harness.settle(0);
  for (const again of [harness, harness.replayed(), harness.restored()]) {
    again.settle(1000);
    assert.deepEqual(again.attempt('tool.run').tokens, read);
  }
});

test('one settled step can cancel a firing and start another one of the same effect', () => {
  const run = tool();
  const restart = pure('restart', {
    take: { stop, firing: running(run) },
    priority: 1,
    give: oneOf({ call }),
    run: ({ firing }) => ({ call: `${firing.inputs.call}'` }),
  });
  const harness = new ExecutorHarness(of(run, restart));
  harness.inject(call, 'a');
  harness.settle(0);
  const { firing } = harness.attempt('tool.run');
  harness.inject(stop);
  harness.settle(0);
  assert.deepEqual(harness.aborted, [firing]);
  assert.equal(harness.attempt('tool.run').tokens['call'], "a'");
});
