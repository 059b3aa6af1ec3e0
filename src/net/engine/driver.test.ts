import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { OutcomeUnknownError } from '../../core/index.ts';
import { DriverHarness } from '../../../test/nets/driver-harness.ts';
import { all, allOf, append, oneOf, upTo } from '../language/arcs.ts';
import { net } from '../language/net.ts';
import type { Net } from '../language/net.ts';
import { listPlace, place } from '../language/place.ts';
import { effect, pure, running } from '../language/transition.ts';
import type { EffectContext, Transition } from '../language/transition.ts';

const call = place('tool.call', z.string(), { environment: true });
const result = place('tool.result', z.string());
const stop = place('stop', { environment: true });
const history = listPlace('history', z.string());
const word = place('word', z.string(), { environment: true });

const speak = pure('speak', {
  take: { word },
  give: allOf({ said: append(history) }),
  run: ({ word }) => ({ said: [word] }),
});

type Run = (call: string, context: EffectContext) => Promise<string>;

/** Runs calls with results that the test decides. `stop` cancels them all. */
function tools(run: Run, more: Partial<Transition> = {}): Net {
  const runTool = effect('tool.run', {
    take: { call },
    give: oneOf({ result }),
    failed: ({ kind, message }, { call }) => ({ result: `${call} ${kind}: ${message}` }),
    run: async ({ call }, context) => ({ result: await run(call, context) }),
  });
  const cancel = pure('cancel', {
    take: { stop, firings: all(running(runTool), { min: 0 }) },
    give: allOf({ results: upTo(9, result) }),
    run: ({ firings }) => ({ results: firings.map(({ inputs }) => `${inputs.call} stopped`) }),
  });
  return net('tools', { transitions: [{ ...runTool, ...more }, cancel, speak] });
}

/** A promise that the test settles. */
function deferred<T>(): PromiseWithResolvers<T> {
  return Promise.withResolvers<T>();
}

test('an effect begins after its start is durable', async () => {
  const startedCalls: string[] = [];
  const harness = new DriverHarness(tools(async (name) => (startedCalls.push(name), 'ok')));
  const commit = harness.hold();
  harness.inject(call, 'a');
  await harness.flush();
  assert.deepEqual(startedCalls, []);
  commit.let();
  await harness.whenIdle();
  assert.deepEqual(startedCalls, ['a']);
  assert.deepEqual(harness.values(result), ['ok']);
});

test('listeners are called after the commit of their step', async () => {
  const harness = new DriverHarness(tools(async (_, { emit }) => (emit('delta'), 'ok')));
  harness.inject(call, 'a');
  await harness.whenIdle();
  assert.deepEqual(harness.log, [
    'commit 1: injected, started tool.run',
    'committed 1',
    'shown delta',
    'commit 2: ended tool.run',
    'committed 2',
  ]);
});

test('inputs and results of one moment share a step; inputs that arrive during its commit go into the next step', async () => {
  const results = new Map(['a', 'b', 'c'].map((name) => [name, deferred<string>()]));
  const harness = new DriverHarness(tools(async (name) => results.get(name)?.promise ?? ''));
  for (const name of results.keys()) harness.inject(call, name);
  await harness.whenIdle();
  assert.equal(harness.steps.length, 1);
  const commit = harness.hold();
  results.get('a')?.resolve('A');
  results.get('b')?.resolve('B');
  await harness.flush();
  results.get('c')?.resolve('C');
  harness.inject(word, 'meanwhile');
  await harness.flush();
  assert.deepEqual(harness.values(result), ['A', 'B']);
  commit.let();
  await harness.whenIdle();
  assert.deepEqual(harness.values(result), ['A', 'B', 'C']);
  assert.equal(harness.steps.length, 3);
});

test('an input to a barrier keeps its order among the inputs that arrive with it, and timers wait for all of them', async () => {
  const letter = place('letter', z.string(), { environment: true });
  const mark = place('mark', { environment: true, barrier: true });
  const due = place('due', { environment: true });
  const said = place('said', z.string());
  const harness = new DriverHarness(
    net('ordered', {
      transitions: [
        pure('letter.count', {
          take: { mark },
          read: { letters: all(letter, { min: 0 }) },
          give: allOf({ said }),
          run: ({ letters }) => ({ said: `after ${letters.join('')}` }),
        }),
        pure('due.expire', {
          take: { due },
          after: 10,
          give: allOf({ said }),
          run: () => ({ said: 'due' }),
        }),
      ],
    }),
  );
  harness.inject(due, null);
  await harness.whenIdle();
  const commit = harness.hold();
  harness.inject(letter, 'a');
  await harness.flush();
  harness.clock.advance(10);
  harness.inject(letter, 'b');
  harness.inject(mark, null);
  harness.inject(letter, 'c');
  commit.let();
  await harness.whenIdle();
  assert.deepEqual(harness.values(said), ['after ab', 'due']);
});

test('an interrupt aborts at once, even while a step is being committed', async () => {
  const aborted = deferred<string>();
  const harness = new DriverHarness(
    tools(async (_, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve('heard'));
      return new Promise(() => {});
    }),
  );
  harness.inject(call, 'a');
  await harness.whenIdle();
  const commit = harness.hold();
  harness.inject(word, 'x');
  await harness.flush();
  harness.inject(stop, null);
  assert.equal(await aborted.promise, 'heard');
  assert.deepEqual(harness.values(result), []);
  commit.let();
  await harness.whenIdle();
  assert.deepEqual(harness.values(result), ['a stopped']);
});

test('a result that arrives after its firing was cancelled is discarded', async () => {
  const late = deferred<string>();
  const harness = new DriverHarness(tools(async () => late.promise));
  harness.inject(call, 'a');
  await harness.whenIdle();
  harness.inject(stop, null);
  await harness.whenIdle();
  late.resolve('late');
  await harness.whenIdle();
  harness.inject(word, 'x');
  await harness.whenIdle();
  assert.deepEqual(harness.values(result), ['a stopped']);
  assert.ok(harness.steps.at(-1)?.records.some((record) => record.kind === 'discarded'));
});

test('an attempt that ignores its timeout ends unknown at the timeout, because it may still complete', async () => {
  const reasons: unknown[] = [];
  const harness = new DriverHarness(
    tools(
      async (_, { signal }) => {
        signal.addEventListener('abort', () => reasons.push(signal.reason));
        return new Promise(() => {});
      },
      { timeoutMs: 500 },
    ),
  );
  harness.inject(call, 'a');
  await harness.whenIdle();
  harness.clock.advance(499);
  await harness.whenIdle();
  assert.deepEqual(harness.values(result), []);
  harness.clock.advance(1);
  await harness.whenIdle();
  assert.deepEqual(harness.values(result), [
    'a unknown: no result within 0.5 s, and it did not stop',
  ]);
  assert.equal(reasons.length, 1);
});

test('an attempt that stops at its timeout ends as a timeout', async () => {
  const harness = new DriverHarness(
    tools(
      async (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('gave up'))),
        ),
      { timeoutMs: 500 },
    ),
  );
  harness.inject(call, 'a');
  await harness.whenIdle();
  harness.clock.advance(500);
  await harness.whenIdle();
  assert.deepEqual(harness.values(result), ['a timeout: no result within 0.5 s']);
});

test('an attempt that may run again ends as a timeout whether it stops or not', async () => {
  const harness = new DriverHarness(
    tools(async () => new Promise(() => {}), { timeoutMs: 500, onCrash: 'rerun' }),
  );
  harness.inject(call, 'a');
  await harness.whenIdle();
  harness.clock.advance(500);
  await harness.whenIdle();
  assert.deepEqual(harness.values(result), ['a timeout: no result within 0.5 s']);
});

test('the end of an attempt that an input cancels is journaled before the input', async () => {
  const harness = new DriverHarness(
    tools(async (name, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      if (name === 'finishes') return 'finished';
      if (name === 'stops') throw new Error('stopped in time');
      return new Promise(() => {});
    }),
  );
  for (const name of ['finishes', 'stops', 'ignores it']) harness.inject(call, name);
  await harness.whenIdle();
  harness.inject(stop, null);
  await harness.whenIdle();
  assert.deepEqual(harness.values(result), [
    'finished',
    'stops cancelled: stopped in time',
    'ignores it stopped',
  ]);
});

test('a result that is available when its timeout is due counts', async () => {
  const answer = deferred<string>();
  const harness = new DriverHarness(tools(async () => answer.promise, { timeoutMs: 500 }));
  harness.inject(call, 'a');
  await harness.whenIdle();
  answer.resolve('in time');
  harness.clock.advance(500);
  await harness.whenIdle();
  assert.deepEqual(harness.values(result), ['in time']);
});

test('a retry begins when it is due, with the same firing id', async () => {
  const attempts: string[] = [];
  const harness = new DriverHarness(
    tools(
      async (_, { firingId, attempt }) => {
        attempts.push(`${firingId} ${attempt}`);
        if (attempt < 3) throw new Error('busy');
        return 'ok';
      },
      { retry: { attempts: 3, backoff: '1s..9s' } },
    ),
  );
  harness.inject(call, 'a');
  await harness.whenIdle();
  for (const ms of [999, 1, 2000]) {
    harness.clock.advance(ms);
    await harness.whenIdle();
  }
  assert.deepEqual(attempts, ['f3 1', 'f3 2', 'f3 3']);
  assert.deepEqual(harness.values(result), ['ok']);
});

test('partial results of an attempt that ended or was aborted are dropped', async () => {
  let emit: (partial: unknown) => void = () => {};
  const harness = new DriverHarness(
    tools(async (name, context) => {
      emit = context.emit;
      return name === 'hang' ? new Promise(() => {}) : 'ok';
    }),
  );
  harness.inject(call, 'a');
  await harness.whenIdle();
  emit('late');
  harness.inject(call, 'hang');
  await harness.whenIdle();
  emit('in time');
  harness.inject(stop, null);
  await harness.whenIdle();
  emit('too late');
  assert.deepEqual(harness.shown, ['in time']);
});

test('a rejected input is consumed with a step and changes nothing else', async () => {
  const harness = new DriverHarness(tools(async () => 'ok'));
  harness.inject('nowhere', 1);
  harness.inject(word, 5);
  harness.inject(word, 'fine');
  await harness.whenIdle();
  const [step] = harness.steps;
  assert.deepEqual(step?.injected.length, 3);
  assert.deepEqual(
    step?.rejected.map(({ injection }) => injection.place),
    ['nowhere', 'word'],
  );
  assert.deepEqual(harness.list(history), ['fine']);
  harness.inject('nowhere', 1);
  await harness.whenIdle();
  assert.deepEqual(harness.steps.at(-1)?.records, []);
});

test('after a conflict the same inputs and results are settled again on the stored journal', async () => {
  let runs = 0;
  const harness = new DriverHarness(tools(async () => `run ${++runs}`));
  harness.conflicts.add(1);
  harness.inject(call, 'a');
  harness.inject(word, 'x');
  await harness.whenIdle();
  assert.equal(runs, 1, 'what was not committed was not begun');
  harness.conflicts.add(4);
  harness.inject(call, 'b');
  await harness.whenIdle();
  assert.equal(runs, 2, 'a finished run is not run again');
  assert.deepEqual(harness.values(result), ['run 1', 'run 2']);
  assert.deepEqual(harness.list(history), ['x']);
  assert.equal(harness.reloads, 2);
});

test('shared state loaded for a step that met a conflict does not overwrite newer state', async () => {
  const harness = new DriverHarness(tools(async () => 'ok'));
  harness.conflicts.add(1);
  harness.onReload = (executor) =>
    executor.appendSystemRecord(
      { kind: 'loaded', place: 'state', entries: { 'user:a': 'new' }, versions: { 'user:a': 2 } },
      0,
    );
  harness.driver.appendSystemRecord({
    kind: 'loaded',
    place: 'state',
    entries: { 'user:a': 'old' },
    versions: { 'user:a': 1 },
  });
  harness.inject(word, 'x');
  await harness.whenIdle();
  assert.deepEqual(harness.marking.maps.get('state'), { 'user:a': 'new' });
});

test('a driver whose commit is refused aborts its attempts, begins none and calls onRefused', async () => {
  const startedCalls: string[] = [];
  const harness = new DriverHarness(
    tools(async (name, { signal }) => {
      startedCalls.push(name);
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new Error('stop'))),
      );
    }),
  );
  harness.inject(call, 'a');
  await harness.whenIdle();
  harness.refuse = true;
  harness.inject(call, 'b');
  await harness.whenIdle();
  harness.inject(call, 'c');
  await harness.flush();
  assert.deepEqual(startedCalls, ['a']);
  assert.equal(harness.steps.length, 1);
  assert.equal(harness.log.at(-1), 'refused');
});

test('a driver whose commit rejects calls onFailed and stops', async () => {
  const harness = new DriverHarness(tools(async () => 'ok'));
  harness.failing = new Error('disk gone');
  harness.inject(call, 'a');
  await harness.whenIdle();
  harness.failing = undefined;
  harness.inject(call, 'b');
  await harness.flush();
  assert.deepEqual(harness.log, ['failed: disk gone']);
});

test('close aborts running attempts, journals how each ended, and begins none', async () => {
  const startedCalls: string[] = [];
  const harness = new DriverHarness(
    tools(async (name, { signal }) => {
      startedCalls.push(name);
      return new Promise((resolve, reject) =>
        signal.addEventListener('abort', () =>
          name === 'saves' ? resolve('saved') : reject(new Error('gave up')),
        ),
      );
    }),
  );
  harness.inject(call, 'saves');
  harness.inject(call, 'gives up');
  await harness.whenIdle();
  const commit = harness.hold();
  harness.inject(call, 'late');
  await harness.flush();
  const closed = harness.driver.close();
  commit.let();
  harness.inject(call, 'later');
  await closed;
  assert.deepEqual(startedCalls, ['saves', 'gives up']);
  assert.deepEqual(harness.values(result), [
    'saved',
    'gives up cancelled: the runtime was shut down',
  ]);
  const next = harness.successor();
  next.driver.recover();
  await next.whenIdle();
  assert.deepEqual(next.values(result).length, 2, 'nothing is unknown');
  assert.deepEqual(startedCalls.slice(2).toSorted(), ['late', 'later'], 'what never began goes on');
});

test('an attempt that ignores the shutdown ends unknown, because it may still complete', async () => {
  const harness = new DriverHarness(tools(async () => new Promise(() => {})));
  harness.inject(call, 'a');
  await harness.whenIdle();
  const closing = harness.driver.close(5_000);
  harness.clock.advance(5_000);
  await closing;
  assert.deepEqual(harness.values(result), [
    'a unknown: the runtime was shut down while this ran, and it did not stop',
  ]);
  const ended = harness.steps.at(-1)?.records.at(-1);
  assert.equal(ended?.kind === 'ended' && ended.outcome, 'unknown');
});

test('an attempt that throws OutcomeUnknownError ends unknown, at a shutdown too', async () => {
  const harness = new DriverHarness(
    tools(async (name, { signal }) => {
      if (name === 'now') throw new OutcomeUnknownError('sent');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      throw new OutcomeUnknownError('sent, and cut off');
    }),
  );
  harness.inject(call, 'now');
  harness.inject(call, 'later');
  await harness.whenIdle();
  assert.deepEqual(harness.values(result), ['now unknown: sent']);
  await harness.driver.close();
  assert.deepEqual(harness.values(result), [
    'now unknown: sent',
    'later unknown: sent, and cut off',
  ]);
});

test('an attempt that may run again waits for the next owner, even if its outcome is unknown', async () => {
  const harness = new DriverHarness(
    tools(
      async (_, { signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        throw new OutcomeUnknownError('sent, and cut off');
      },
      { onCrash: 'rerun' },
    ),
  );
  harness.inject(call, 'a');
  await harness.whenIdle();
  await harness.driver.close();
  assert.deepEqual(harness.values(result), []);
  assert.equal(harness.steps.at(-1)?.records.at(-1)?.kind, 'retrying');
});

test('close waits a limited time for an attempt that ignores the shutdown', async () => {
  const harness = new DriverHarness(tools(async () => new Promise(() => {}), { onCrash: 'rerun' }));
  harness.inject(call, 'a');
  await harness.whenIdle();
  let closed = false;
  const closing = harness.driver.close(5_000).then(() => (closed = true));
  await harness.flush();
  harness.clock.advance(4_999);
  await harness.flush();
  assert.equal(closed, false);
  harness.clock.advance(1);
  await closing;
  assert.equal(harness.steps.at(-1)?.records.at(-1)?.kind, 'retrying');
});

test('a conflict during close does not lose how attempts ended', async () => {
  const harness = new DriverHarness(tools(async () => new Promise(() => {})));
  harness.inject(call, 'a');
  await harness.whenIdle();
  harness.conflicts.add(2);
  const closing = harness.driver.close(0);
  await harness.flush();
  harness.clock.advance(1);
  await closing;
  assert.equal(harness.reloads, 1);
  assert.deepEqual(harness.values(result), [
    'a unknown: the runtime was shut down while this ran, and it did not stop',
  ]);
});

test('a second close has no effect', async () => {
  const harness = new DriverHarness(tools(async () => new Promise(() => {})));
  harness.inject(call, 'a');
  await harness.whenIdle();
  const both = Promise.all([harness.driver.close(0), harness.driver.close(0)]);
  harness.clock.advance(1);
  await both;
  const { length } = harness.steps;
  await harness.driver.close();
  assert.equal(length, 2);
  assert.equal(harness.steps.length, 2);
});

test('stop journals nothing, aborts running attempts, and ignores late results', async () => {
  const late = deferred<string>();
  const harness = new DriverHarness(tools(async () => late.promise));
  harness.inject(call, 'a');
  await harness.whenIdle();
  harness.driver.stop();
  late.resolve('late');
  harness.inject(word, 'x');
  await harness.flush();
  assert.equal(harness.steps.length, 1);
  assert.equal(harness.driver.isIdle, false);
});

test('a driver stopped during the reload after a conflict commits nothing more', async () => {
  const harness = new DriverHarness(tools(async () => 'ok'));
  harness.conflicts.add(1);
  harness.onReload = () => harness.driver.stop();
  harness.inject(call, 'a');
  await harness.flush();
  await harness.flush();
  assert.deepEqual(harness.log, []);
});

test('a driver is idle when nothing runs, waits or is being committed', async () => {
  const answer = deferred<string>();
  const harness = new DriverHarness(tools(async () => answer.promise));
  assert.equal(harness.driver.isIdle, true);
  harness.inject(call, 'a');
  assert.equal(harness.driver.isIdle, false);
  await harness.whenIdle();
  assert.equal(harness.driver.isIdle, false);
  answer.resolve('ok');
  await harness.whenIdle();
  assert.equal(harness.driver.isIdle, true);
});

test('a timer that is due during a commit fires after it', async () => {
  const rang = place('rang');
  const ring = pure('ring', {
    take: { word },
    after: 100,
    give: oneOf({ rang }),
    run: () => ({ rang: null }),
  });
  const harness = new DriverHarness(net('timer', { transitions: [ring] }));
  const commit = harness.hold();
  harness.inject(word, 'x');
  await harness.flush();
  harness.clock.advance(150);
  await harness.flush();
  commit.let();
  await harness.whenIdle();
  assert.deepEqual(harness.values(rang), [null]);
});
