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
function gate<T>(): PromiseWithResolvers<T> {
  return Promise.withResolvers<T>();
}

test('an effect begins after its start is durable', async () => {
  const begun: string[] = [];
  const drive = new DriverHarness(tools(async (name) => (begun.push(name), 'ok')));
  const commit = drive.hold();
  drive.inject(call, 'a');
  await drive.flush();
  assert.deepEqual(begun, []);
  commit.let();
  await drive.whenIdle();
  assert.deepEqual(begun, ['a']);
  assert.deepEqual(drive.values(result), ['ok']);
});

test('listeners are called after the commit of their step', async () => {
  const drive = new DriverHarness(tools(async (_, { emit }) => (emit('delta'), 'ok')));
  drive.inject(call, 'a');
  await drive.whenIdle();
  assert.deepEqual(drive.log, [
    'commit 1: injected, started tool.run',
    'committed 1',
    'shown delta',
    'commit 2: ended tool.run',
    'committed 2',
  ]);
});

test('inputs and results of one moment share a step; inputs that arrive during its commit go into the next step', async () => {
  const gates = new Map(['a', 'b', 'c'].map((name) => [name, gate<string>()]));
  const drive = new DriverHarness(tools(async (name) => gates.get(name)?.promise ?? ''));
  for (const name of gates.keys()) drive.inject(call, name);
  await drive.whenIdle();
  assert.equal(drive.steps.length, 1);
  const commit = drive.hold();
  gates.get('a')?.resolve('A');
  gates.get('b')?.resolve('B');
  await drive.flush();
  gates.get('c')?.resolve('C');
  drive.inject(word, 'meanwhile');
  await drive.flush();
  assert.deepEqual(drive.values(result), ['A', 'B']);
  commit.let();
  await drive.whenIdle();
  assert.deepEqual(drive.values(result), ['A', 'B', 'C']);
  assert.equal(drive.steps.length, 3);
});

test('an interrupt aborts at once, even while a step is being committed', async () => {
  const heard = gate<string>();
  const drive = new DriverHarness(
    tools(async (_, { signal }) => {
      signal.addEventListener('abort', () => heard.resolve('heard'));
      return new Promise(() => {});
    }),
  );
  drive.inject(call, 'a');
  await drive.whenIdle();
  const commit = drive.hold();
  drive.inject(word, 'x');
  await drive.flush();
  drive.inject(stop, null);
  assert.equal(await heard.promise, 'heard');
  assert.deepEqual(drive.values(result), []);
  commit.let();
  await drive.whenIdle();
  assert.deepEqual(drive.values(result), ['a stopped']);
});

test('a result that arrives after its firing was cancelled is discarded', async () => {
  const late = gate<string>();
  const drive = new DriverHarness(tools(async () => late.promise));
  drive.inject(call, 'a');
  await drive.whenIdle();
  drive.inject(stop, null);
  await drive.whenIdle();
  late.resolve('late');
  await drive.whenIdle();
  drive.inject(word, 'x');
  await drive.whenIdle();
  assert.deepEqual(drive.values(result), ['a stopped']);
  assert.ok(drive.steps.at(-1)?.records.some((record) => record.kind === 'discarded'));
});

test('an attempt that ignores its timeout ends unknown at the timeout, because it may still complete', async () => {
  const reasons: unknown[] = [];
  const drive = new DriverHarness(
    tools(
      async (_, { signal }) => {
        signal.addEventListener('abort', () => reasons.push(signal.reason));
        return new Promise(() => {});
      },
      { timeoutMs: 500 },
    ),
  );
  drive.inject(call, 'a');
  await drive.whenIdle();
  drive.clock.advance(499);
  await drive.whenIdle();
  assert.deepEqual(drive.values(result), []);
  drive.clock.advance(1);
  await drive.whenIdle();
  assert.deepEqual(drive.values(result), [
    'a unknown: no result within 0.5 s, and it did not stop',
  ]);
  assert.equal(reasons.length, 1);
});

test('an attempt that stops at its timeout ends as a timeout', async () => {
  const drive = new DriverHarness(
    tools(
      async (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('gave up'))),
        ),
      { timeoutMs: 500 },
    ),
  );
  drive.inject(call, 'a');
  await drive.whenIdle();
  drive.clock.advance(500);
  await drive.whenIdle();
  assert.deepEqual(drive.values(result), ['a timeout: no result within 0.5 s']);
});

test('an attempt that may run again ends as a timeout whether it stops or not', async () => {
  const drive = new DriverHarness(
    tools(async () => new Promise(() => {}), { timeoutMs: 500, onCrash: 'rerun' }),
  );
  drive.inject(call, 'a');
  await drive.whenIdle();
  drive.clock.advance(500);
  await drive.whenIdle();
  assert.deepEqual(drive.values(result), ['a timeout: no result within 0.5 s']);
});

test('the end of an attempt that an input cancels is journaled before the input', async () => {
  const drive = new DriverHarness(
    tools(async (name, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      if (name === 'finishes') return 'finished';
      if (name === 'stops') throw new Error('stopped in time');
      return new Promise(() => {});
    }),
  );
  for (const name of ['finishes', 'stops', 'ignores it']) drive.inject(call, name);
  await drive.whenIdle();
  drive.inject(stop, null);
  await drive.whenIdle();
  assert.deepEqual(drive.values(result), [
    'finished',
    'stops cancelled: stopped in time',
    'ignores it stopped',
  ]);
});

test('a result that is available when its timeout is due counts', async () => {
  const answer = gate<string>();
  const drive = new DriverHarness(tools(async () => answer.promise, { timeoutMs: 500 }));
  drive.inject(call, 'a');
  await drive.whenIdle();
  answer.resolve('in time');
  drive.clock.advance(500);
  await drive.whenIdle();
  assert.deepEqual(drive.values(result), ['in time']);
});

test('a retry begins when it is due, with the same firing id', async () => {
  const attempts: string[] = [];
  const drive = new DriverHarness(
    tools(
      async (_, { firingId, attempt }) => {
        attempts.push(`${firingId} ${attempt}`);
        if (attempt < 3) throw new Error('busy');
        return 'ok';
      },
      { retry: { attempts: 3, backoff: '1s..9s' } },
    ),
  );
  drive.inject(call, 'a');
  await drive.whenIdle();
  for (const ms of [999, 1, 2000]) {
    drive.clock.advance(ms);
    await drive.whenIdle();
  }
  assert.deepEqual(attempts, ['f3 1', 'f3 2', 'f3 3']);
  assert.deepEqual(drive.values(result), ['ok']);
});

test('partial results of an attempt that ended or was aborted are dropped', async () => {
  let emit: (partial: unknown) => void = () => {};
  const drive = new DriverHarness(
    tools(async (name, context) => {
      emit = context.emit;
      return name === 'hang' ? new Promise(() => {}) : 'ok';
    }),
  );
  drive.inject(call, 'a');
  await drive.whenIdle();
  emit('late');
  drive.inject(call, 'hang');
  await drive.whenIdle();
  emit('in time');
  drive.inject(stop, null);
  await drive.whenIdle();
  emit('too late');
  assert.deepEqual(drive.shown, ['in time']);
});

test('a rejected input is consumed with a step and changes nothing else', async () => {
  const drive = new DriverHarness(tools(async () => 'ok'));
  drive.inject('nowhere', 1);
  drive.inject(word, 5);
  drive.inject(word, 'fine');
  await drive.whenIdle();
  const [step] = drive.steps;
  assert.deepEqual(step?.injected.length, 3);
  assert.deepEqual(
    step?.rejected.map(({ injection }) => injection.place),
    ['nowhere', 'word'],
  );
  assert.deepEqual(drive.list(history), ['fine']);
  drive.inject('nowhere', 1);
  await drive.whenIdle();
  assert.deepEqual(drive.steps.at(-1)?.records, []);
});

test('after a conflict the same inputs and results are settled again on the stored journal', async () => {
  let runs = 0;
  const drive = new DriverHarness(tools(async () => `run ${++runs}`));
  drive.conflicts.add(1);
  drive.inject(call, 'a');
  drive.inject(word, 'x');
  await drive.whenIdle();
  assert.equal(runs, 1, 'what was not committed was not begun');
  drive.conflicts.add(4);
  drive.inject(call, 'b');
  await drive.whenIdle();
  assert.equal(runs, 2, 'a finished run is not run again');
  assert.deepEqual(drive.values(result), ['run 1', 'run 2']);
  assert.deepEqual(drive.list(history), ['x']);
  assert.equal(drive.reloads, 2);
});

test('shared state loaded for a step that met a conflict does not overwrite newer state', async () => {
  const drive = new DriverHarness(tools(async () => 'ok'));
  drive.conflicts.add(1);
  drive.onReload = (executor) =>
    executor.appendSystemRecord(
      { kind: 'loaded', place: 'state', entries: { 'user:a': 'new' }, versions: { 'user:a': 2 } },
      0,
    );
  drive.driver.appendSystemRecord({
    kind: 'loaded',
    place: 'state',
    entries: { 'user:a': 'old' },
    versions: { 'user:a': 1 },
  });
  drive.inject(word, 'x');
  await drive.whenIdle();
  assert.deepEqual(drive.marking.maps.get('state'), { 'user:a': 'new' });
});

test('a driver whose commit is refused aborts its attempts, begins none and calls onRefused', async () => {
  const begun: string[] = [];
  const drive = new DriverHarness(
    tools(async (name, { signal }) => {
      begun.push(name);
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new Error('stop'))),
      );
    }),
  );
  drive.inject(call, 'a');
  await drive.whenIdle();
  drive.refuse = true;
  drive.inject(call, 'b');
  await drive.whenIdle();
  drive.inject(call, 'c');
  await drive.flush();
  assert.deepEqual(begun, ['a']);
  assert.equal(drive.steps.length, 1);
  assert.equal(drive.log.at(-1), 'refused');
});

test('a driver whose commit rejects calls onFailed and stops', async () => {
  const drive = new DriverHarness(tools(async () => 'ok'));
  drive.failing = new Error('disk gone');
  drive.inject(call, 'a');
  await drive.whenIdle();
  drive.failing = undefined;
  drive.inject(call, 'b');
  await drive.flush();
  assert.deepEqual(drive.log, ['failed: disk gone']);
});

test('close aborts running attempts, journals how each ended, and begins none', async () => {
  const begun: string[] = [];
  const drive = new DriverHarness(
    tools(async (name, { signal }) => {
      begun.push(name);
      return new Promise((resolve, reject) =>
        signal.addEventListener('abort', () =>
          name === 'saves' ? resolve('saved') : reject(new Error('gave up')),
        ),
      );
    }),
  );
  drive.inject(call, 'saves');
  drive.inject(call, 'gives up');
  await drive.whenIdle();
  const commit = drive.hold();
  drive.inject(call, 'late');
  await drive.flush();
  const closed = drive.driver.close();
  commit.let();
  drive.inject(call, 'later');
  await closed;
  assert.deepEqual(begun, ['saves', 'gives up']);
  assert.deepEqual(drive.values(result), [
    'saved',
    'gives up cancelled: the runtime was shut down',
  ]);
  const next = drive.successor();
  next.driver.recover();
  await next.whenIdle();
  assert.deepEqual(next.values(result).length, 2, 'nothing is unknown');
  assert.deepEqual(begun.slice(2).toSorted(), ['late', 'later'], 'what never began goes on');
});

test('an attempt that ignores the shutdown ends unknown, because it may still complete', async () => {
  const drive = new DriverHarness(tools(async () => new Promise(() => {})));
  drive.inject(call, 'a');
  await drive.whenIdle();
  const closing = drive.driver.close(5_000);
  drive.clock.advance(5_000);
  await closing;
  assert.deepEqual(drive.values(result), [
    'a unknown: the runtime was shut down while this ran, and it did not stop',
  ]);
  const ended = drive.steps.at(-1)?.records.at(-1);
  assert.equal(ended?.kind === 'ended' && ended.outcome, 'unknown');
});

test('an attempt that throws OutcomeUnknownError ends unknown, at a shutdown too', async () => {
  const drive = new DriverHarness(
    tools(async (name, { signal }) => {
      if (name === 'now') throw new OutcomeUnknownError('sent');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      throw new OutcomeUnknownError('sent, and cut off');
    }),
  );
  drive.inject(call, 'now');
  drive.inject(call, 'later');
  await drive.whenIdle();
  assert.deepEqual(drive.values(result), ['now unknown: sent']);
  await drive.driver.close();
  assert.deepEqual(drive.values(result), ['now unknown: sent', 'later unknown: sent, and cut off']);
});

test('an attempt that may run again waits for the next owner, even if its outcome is unknown', async () => {
  const drive = new DriverHarness(
    tools(
      async (_, { signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        throw new OutcomeUnknownError('sent, and cut off');
      },
      { onCrash: 'rerun' },
    ),
  );
  drive.inject(call, 'a');
  await drive.whenIdle();
  await drive.driver.close();
  assert.deepEqual(drive.values(result), []);
  assert.equal(drive.steps.at(-1)?.records.at(-1)?.kind, 'retrying');
});

test('close waits a limited time for an attempt that ignores the shutdown', async () => {
  const drive = new DriverHarness(tools(async () => new Promise(() => {}), { onCrash: 'rerun' }));
  drive.inject(call, 'a');
  await drive.whenIdle();
  let closed = false;
  const closing = drive.driver.close(5_000).then(() => (closed = true));
  await drive.flush();
  drive.clock.advance(4_999);
  await drive.flush();
  assert.equal(closed, false);
  drive.clock.advance(1);
  await closing;
  assert.equal(drive.steps.at(-1)?.records.at(-1)?.kind, 'retrying');
});

test('a conflict during close does not lose how attempts ended', async () => {
  const drive = new DriverHarness(tools(async () => new Promise(() => {})));
  drive.inject(call, 'a');
  await drive.whenIdle();
  drive.conflicts.add(2);
  const closing = drive.driver.close(0);
  await drive.flush();
  drive.clock.advance(1);
  await closing;
  assert.equal(drive.reloads, 1);
  assert.deepEqual(drive.values(result), [
    'a unknown: the runtime was shut down while this ran, and it did not stop',
  ]);
});

test('a second close has no effect', async () => {
  const drive = new DriverHarness(tools(async () => new Promise(() => {})));
  drive.inject(call, 'a');
  await drive.whenIdle();
  const both = Promise.all([drive.driver.close(0), drive.driver.close(0)]);
  drive.clock.advance(1);
  await both;
  const { length } = drive.steps;
  await drive.driver.close();
  assert.equal(length, 2);
  assert.equal(drive.steps.length, 2);
});

test('stop journals nothing, aborts running attempts, and ignores late results', async () => {
  const late = gate<string>();
  const drive = new DriverHarness(tools(async () => late.promise));
  drive.inject(call, 'a');
  await drive.whenIdle();
  drive.driver.stop();
  late.resolve('late');
  drive.inject(word, 'x');
  await drive.flush();
  assert.equal(drive.steps.length, 1);
  assert.equal(drive.driver.isIdle, false);
});

test('a driver stopped during the reload after a conflict commits nothing more', async () => {
  const drive = new DriverHarness(tools(async () => 'ok'));
  drive.conflicts.add(1);
  drive.onReload = () => drive.driver.stop();
  drive.inject(call, 'a');
  await drive.flush();
  await drive.flush();
  assert.deepEqual(drive.log, []);
});

test('a driver is idle when nothing runs, waits or is being committed', async () => {
  const answer = gate<string>();
  const drive = new DriverHarness(tools(async () => answer.promise));
  assert.equal(drive.driver.isIdle, true);
  drive.inject(call, 'a');
  assert.equal(drive.driver.isIdle, false);
  await drive.whenIdle();
  assert.equal(drive.driver.isIdle, false);
  answer.resolve('ok');
  await drive.whenIdle();
  assert.equal(drive.driver.isIdle, true);
});

test('a timer that is due during a commit fires after it', async () => {
  const rang = place('rang');
  const ring = pure('ring', {
    take: { word },
    after: 100,
    give: oneOf({ rang }),
    run: () => ({ rang: null }),
  });
  const drive = new DriverHarness(net('timer', { transitions: [ring] }));
  const commit = drive.hold();
  drive.inject(word, 'x');
  await drive.flush();
  drive.clock.advance(150);
  await drive.flush();
  commit.let();
  await drive.whenIdle();
  assert.deepEqual(drive.values(rang), [null]);
});
