import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { ExecutorHarness } from '../../../test/nets/executor-harness.ts';
import { all, allOf, each, oneOf, upTo } from '../language/arcs.ts';
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
  const play = new ExecutorHarness(of(tool()));
  play.inject(call, 'a');
  play.inject(call, 'b');
  play.settle(1);
  const [a, b] = [...play.running.values()];
  assert.ok(a && b);
  assert.deepEqual([a.tokens['call'], b.tokens['call']], ['a', 'b']);
  assert.deepEqual(play.values(call), []);
  play.finish(b, { result: 'B' });
  play.fail(a);
  play.finish(b, { result: 'again' });
  play.settle(2);
  assert.deepEqual(play.values(result), ['B', 'a error 1: no']);
  assert.deepEqual(play.summary.slice(3), [
    'started tool.run',
    'started tool.run',
    'ended tool.run',
    'ended tool.run',
    'discarded tool.run',
  ]);
});

test('five parallel calls, one of which times out, produce four results and one failure', () => {
  const play = new ExecutorHarness(
    of(tool({ timeoutMs: ({ call }: { call: string }) => Number(call) * 10 })),
  );
  for (const n of '12345') play.inject(call, n);
  play.settle(0);
  const attempts = [...play.running.values()];
  play.settle(10);
  play.now = 60;
  // All of these are due too, but an available result comes before a timeout.
  for (const attempt of attempts.slice(1)) {
    play.finish(attempt, { result: `${String(attempt.tokens['call'])} ok` });
  }
  play.settle(60);
  assert.deepEqual(play.values(result), [
    '1 unknown 1: no result within 0.01 s, and it did not stop',
    '2 ok',
    '3 ok',
    '4 ok',
    '5 ok',
  ]);
  assert.deepEqual(play.aborted, [attempts[0]?.firing]);
});

test('a timeout ends one firing and leaves the other firings of the transition running', () => {
  const play = new ExecutorHarness(of(tool({ timeoutMs: 100 })));
  play.inject(call, 'a');
  play.settle(0);
  play.inject(call, 'b');
  play.settle(50);
  play.settle(100);
  assert.deepEqual(play.values(result), [
    'a unknown 1: no result within 0.1 s, and it did not stop',
  ]);
  assert.equal(play.running.size, 1);
  assert.equal(play.executor.nextDueAt, 150);
});

test('concurrency limits the firings in flight, including those that wait for a retry', () => {
  const play = new ExecutorHarness(
    of(tool({ concurrency: 2, retry: { attempts: 2, backoff: '1s..1s' } })),
  );
  for (const n of 'abcd') play.inject(call, n);
  play.settle(0);
  assert.equal(play.running.size, 2);
  play.fail(play.attempt('tool.run'));
  play.settle(0);
  assert.deepEqual(play.values(call), ['c', 'd']);
  play.finish(play.attempt('tool.run'), { result: 'b' });
  play.settle(0);
  assert.deepEqual(play.values(call), ['d']);
});

test('a firing that waits for a retry keeps its number, its inputs and its id', () => {
  const play = new ExecutorHarness(of(tool({ retry: { attempts: 3, backoff: '1s..30s' } })));
  play.inject(call, 'a');
  const seen: unknown[] = [];
  for (const now of [0, 1000, 3000]) {
    if (now > 0) play.settle(now - 1);
    assert.equal(play.running.size, 0);
    play.settle(now);
    const attempt = play.attempt('tool.run');
    seen.push([attempt.firingId, attempt.attempt, attempt.tokens]);
    play.fail(attempt);
  }
  play.settle(3000);
  assert.deepEqual(
    seen,
    [1, 2, 3].map((attempt) => ['f3', attempt, { call: 'a' }]),
  );
  assert.deepEqual(play.values(result), ['a error 3: no']);
});

test('an attempt that times out is retried, and its late result is discarded', () => {
  const play = new ExecutorHarness(
    of(tool({ timeoutMs: 100, retry: { attempts: 2, backoff: '1s..1s' } })),
  );
  play.inject(call, 'a');
  play.settle(0);
  const first = play.attempt('tool.run');
  play.settle(100);
  play.finish(first, { result: 'too late' });
  play.settle(100);
  assert.equal(play.executor.nextDueAt, 1100);
  play.settle(1100);
  play.finish(first, { result: 'still too late' });
  play.settle(1150);
  assert.deepEqual(play.values(result), []);
  play.settle(1200);
  assert.deepEqual(play.values(result), [
    'a unknown 2: no result within 0.1 s, and it did not stop',
  ]);
  assert.deepEqual(play.summary.filter((line) => line.startsWith('discarded')).length, 2);
});

test('a backoff function computes the delay from the failure, or ends the retries', () => {
  const backoff = ({ message }: { message: string }): number | undefined =>
    message === 'busy' ? 250 : undefined;
  const play = new ExecutorHarness(of(tool({ retry: { attempts: 9, backoff } })));
  play.inject(call, 'a');
  play.settle(0);
  play.fail(play.attempt('tool.run'), new Error('busy'));
  play.settle(0);
  assert.equal(play.executor.nextDueAt, 250);
  play.settle(250);
  play.fail(play.attempt('tool.run'), new Error('broken'));
  play.settle(250);
  assert.deepEqual(play.values(result), ['a error 2: broken']);
});

test('an output value that does not match its schema fails the effect', () => {
  const play = new ExecutorHarness(of(tool()));
  play.inject(call, 'a');
  play.inject(call, 'b');
  play.settle(0);
  play.finish(play.attempt('tool.run'), { result: 5 });
  play.finish(play.attempt('tool.run'), undefined);
  play.settle(0);
  const [a, b] = play.values(result);
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
  const play = new ExecutorHarness(of(run, cancel));
  play.inject(call, 'a');
  play.inject(call, 'b');
  play.settle(0);
  const attempts = [...play.running.values()];
  const firings = attempts.map(({ firing }) => firing);
  assert.deepEqual(play.executor.findAborted(stop.name, null), firings);
  play.inject(stop);
  play.settle(1);
  assert.deepEqual(play.aborted, firings);
  for (const attempt of attempts) play.finish(attempt, { result: 'late' });
  play.settle(2);
  assert.deepEqual(play.values(result), ['cancelled a', 'cancelled b']);
  assert.equal(play.executor.nextDueAt, undefined);
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
  const play = new ExecutorHarness(of(run, drop));
  play.inject(call, 'a');
  play.settle(0);
  const { firing } = play.attempt('tool.run');
  assert.deepEqual(play.executor.findAborted(stop.name, null), [firing]);
  assert.deepEqual(play.executor.findAborted(call.name, 'b'), []);
  assert.deepEqual(play.executor.findAborted(stop.name, 'not a unit'), []);
  play.inject(stop);
  play.settle(0);
  assert.deepEqual(play.aborted, [firing]);
  assert.equal(play.marking.firings.size, 0);
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
  const play = new ExecutorHarness(of(run, cancel));
  play.inject(call, 'a');
  play.settle(0);
  play.fail(play.attempt('tool.run'));
  play.settle(0);
  play.inject(stop);
  play.settle(0);
  assert.deepEqual(play.values(result), ['f3 1 a']);
  assert.equal(play.executor.nextDueAt, undefined);
  play.settle(5000);
  assert.equal(play.running.size, 0);
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
  const play = new ExecutorHarness(of(run, rest, look));
  play.inject(ask);
  play.inject(stop);
  play.settle(0);
  assert.deepEqual(play.values(quiet), [null]);
  assert.deepEqual(play.values(status), []);
  play.inject(call, 'a');
  play.inject(stop);
  play.settle(0);
  assert.deepEqual(play.values(quiet), [null], 'it waits while the effect runs');
  play.fail(play.attempt('tool.run'));
  play.settle(0);
  assert.deepEqual(play.values(status), [['a 1']]);
  assert.equal(play.values(quiet).length, 1, 'it still waits while the effect waits for its retry');
  play.settle(1000);
  play.finish(play.attempt('tool.run'), { result: 'ok' });
  play.settle(1000);
  assert.equal(play.values(quiet).length, 2);
});

test('an effect whose firing is gone at the end of the settled step is not begun', () => {
  const run = tool();
  const drop = pure('drop', {
    take: { firing: running(run), stop },
    give: oneOf({ result }),
    run: ({ firing }) => ({ result: `never ran ${firing.inputs.call}` }),
  });
  const play = new ExecutorHarness(of(run, drop));
  play.inject(call, 'a');
  play.inject(stop);
  play.settle(0);
  assert.equal(play.running.size, 0);
  assert.deepEqual(play.values(result), ['never ran a']);
});

test('an inhibitor of an effect is evaluated at its start only', () => {
  const busy = place('busy', { environment: true });
  const play = new ExecutorHarness(of({ ...tool(), unless: [busy] }));
  play.inject(call, 'a');
  play.settle(0);
  play.inject(busy);
  play.inject(call, 'b');
  play.settle(0);
  assert.deepEqual(play.values(call), ['b']);
  play.finish(play.attempt('tool.run'), { result: 'ok' });
  play.settle(0);
  assert.deepEqual(play.values(result), ['ok']);
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
  const play = new ExecutorHarness(
    net('tools', { transitions: [run, forget], initial: [initialToken(note, 'old')] }),
  );
  play.inject('notes', 'x');
  play.inject(call, 'a');
  play.settle(0);
  const read = { call: 'a', note: 'old', notes: ['x'] };
  assert.deepEqual(play.attempt('tool.run').tokens, read);
  play.inject(stop);
  play.inject('notes', 'y');
  play.settle(0);
  play.inject(note, 'new');
  play.fail(play.attempt('tool.run'));
  play.settle(0);
  for (const again of [play, play.replayed(), play.restored()]) {
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
  const play = new ExecutorHarness(of(run, restart));
  play.inject(call, 'a');
  play.settle(0);
  const { firing } = play.attempt('tool.run');
  play.inject(stop);
  play.settle(0);
  assert.deepEqual(play.aborted, [firing]);
  assert.equal(play.attempt('tool.run').tokens['call'], "a'");
});
