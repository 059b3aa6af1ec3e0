import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { all, allOf, many, matching, oneOf, upTo } from './arcs.ts';
import { compile } from './compile.ts';
import { Executor } from './executor.ts';
import { applyRecord, emptyMarking, tokensIn } from './marking.ts';
import type { Marking } from './marking.ts';
import { initially, net } from './net.ts';
import type { Net } from './net.ts';
import { place } from './place.ts';
import type { JournalRecord } from './record.ts';
import { effect, pure, running } from './transition.ts';

function start(of: Net): {
  executor: Executor;
  marking: Marking;
  records: JournalRecord[];
  settle: (now: number) => void;
} {
  const marking = emptyMarking();
  const executor = new Executor(compile(of), marking, { firingIdOf: String });
  const records: JournalRecord[] = [];
  executor.begin(0);
  return {
    executor,
    marking,
    records,
    settle: (now) => {
      executor.settle(now);
      records.push(...executor.takeSettled().records);
    },
  };
}

const values = (marking: Marking, name: string): readonly unknown[] =>
  tokensIn(marking, name).map((token) => token.value);

test('enabledness is judged after every firing: two commits guarded by an inhibitor commit once', () => {
  const slow = place('race.slow', { environment: true });
  const fast = place('race.fast', { environment: true });
  const sent = place('race.sent', z.string());
  const commit = (name: string, from: typeof slow) =>
    pure(name, {
      take: { from },
      unless: [sent],
      give: oneOf({ sent }),
      run: () => ({ sent: name }),
    });
  const { executor, marking, settle } = start(
    net('race', { transitions: [commit('commit.slow', slow), commit('commit.fast', fast)] }),
  );
  executor.inject('race.fast', null, 1);
  executor.inject('race.slow', null, 1);
  settle(1);
  assert.deepEqual(values(marking, 'race.sent'), ['commit.fast']);
  assert.equal(tokensIn(marking, 'race.slow').length, 1);
});

test('an effect holds its inputs while it runs and gives once', () => {
  const call = place('tool.call', z.string(), { environment: true });
  const result = place('tool.result', z.string());
  const run = effect('tool.run', {
    take: { call },
    give: oneOf({ result }),
    failed: ({ message }, { call }) => ({ result: `${call} failed: ${message}` }),
    run: async ({ call }) => ({ result: call }),
  });
  const { executor, marking, records, settle } = start(net('tools', { transitions: [run] }));
  executor.inject('tool.call', 'a', 1);
  executor.inject('tool.call', 'b', 1);
  executor.settle(1);
  const { attempts, records: first } = executor.takeSettled();
  records.push(...first);
  assert.deepEqual(
    attempts.map((attempt) => attempt.tokens['call']),
    ['a', 'b'],
  );
  assert.equal(tokensIn(marking, 'tool.call').length, 0);
  executor.finish(attempts[1]?.firing ?? 0, 1, { ok: true, value: { result: 'B' } }, 2, 'tool.run');
  executor.finish(
    attempts[0]?.firing ?? 0,
    1,
    { ok: false, kind: 'error', error: new Error('no') },
    2,
    'tool.run',
  );
  executor.finish(
    attempts[1]?.firing ?? 0,
    1,
    { ok: true, value: { result: 'again' } },
    2,
    'tool.run',
  );
  settle(2);
  assert.deepEqual(values(marking, 'tool.result'), ['B', 'a failed: no']);
  assert.deepEqual(
    records.map((record) => record.kind),
    ['injected', 'injected', 'injected', 'started', 'started', 'ended', 'ended', 'discarded'],
  );
  const again = emptyMarking();
  for (const record of records) applyRecord(again, record);
  assert.deepEqual(again, marking);
});

test('a join by key takes exactly the tokens of one batch', () => {
  const Result = z.object({ batch: z.string(), value: z.number() });
  const batch = place('batch.open', z.string(), { environment: true });
  const result = place('batch.result', Result, { environment: true });
  const done = place('batch.done', z.string());
  const joinBatch = pure('batch.join', {
    take: {
      batch: matching(batch, (id) => id),
      results: matching(many(2, result), (r) => r.batch),
    },
    give: oneOf({ done }),
    run: ({ batch, results }) => ({ done: `${batch}:${results.map((r) => r.value).join('+')}` }),
  });
  const { executor, marking, settle } = start(net('join', { transitions: [joinBatch] }));
  executor.inject('batch.open', 'a', 1);
  executor.inject('batch.open', 'b', 1);
  for (const [id, value] of [
    ['b', 1],
    ['a', 2],
    ['b', 3],
  ] as const)
    executor.inject('batch.result', { batch: id, value }, 1);
  settle(1);
  assert.deepEqual(values(marking, 'batch.done'), ['b:1+3']);
  executor.inject('batch.result', { batch: 'a', value: 4 }, 2);
  settle(2);
  assert.deepEqual(values(marking, 'batch.done'), ['b:1+3', 'a:2+4']);
});

test('a timed transition fires when its token has waited long enough, and a restart does not start the clock again', () => {
  const armed = place('timer.armed', { environment: true });
  const rang = place('timer.rang');
  const ring = pure('timer.ring', {
    take: { armed },
    after: 100,
    give: oneOf({ rang }),
    run: () => ({ rang: null }),
  });
  const of = net('timer', { transitions: [ring] });
  const { executor, marking, records, settle } = start(of);
  executor.inject('timer.armed', null, 10);
  settle(10);
  assert.equal(executor.nextDueAt, 110);
  const recovered = emptyMarking();
  for (const record of records) applyRecord(recovered, record);
  const next = new Executor(compile(of), recovered, { firingIdOf: String });
  assert.equal(next.nextDueAt, 110);
  next.settle(109);
  assert.equal(tokensIn(recovered, 'timer.rang').length, 0);
  next.settle(110);
  assert.equal(tokensIn(recovered, 'timer.rang').length, 1);
  settle(109);
  assert.equal(tokensIn(marking, 'timer.rang').length, 0);
});

test('five calls in parallel of which one times out give four results and one failure', () => {
  const call = place('tool.call', z.number(), { environment: true });
  const result = place('tool.result', z.string());
  const run = effect('tool.run', {
    take: { call },
    timeoutMs: ({ call }) => call * 10,
    give: oneOf({ result }),
    failed: ({ kind }, { call }) => ({ result: `${call} ${kind}` }),
    run: async () => ({ result: '' }),
  });
  const { executor, marking, settle } = start(net('tools', { transitions: [run] }));
  for (let n = 1; n <= 5; n++) executor.inject('tool.call', n, 0);
  executor.settle(0);
  const { attempts } = executor.takeSettled();
  settle(10);
  for (const { firing, tokens } of attempts) {
    if (tokens['call'] !== 1)
      executor.finish(
        firing,
        1,
        { ok: true, value: { result: `${String(tokens['call'])} ok` } },
        60,
        'tool.run',
      );
  }
  settle(60);
  assert.deepEqual(values(marking, 'tool.result'), ['1 timeout', '2 ok', '3 ok', '4 ok', '5 ok']);
});

test('a retry is a firing that waits; the firing keeps its number and its inputs', () => {
  const call = place('tool.call', z.string(), { environment: true });
  const result = place('tool.result', z.string());
  const run = effect('tool.run', {
    take: { call },
    retry: { attempts: 3, backoff: '1s..30s' },
    give: oneOf({ result }),
    failed: ({ message, attempt }) => ({ result: `${message} after ${attempt}` }),
    run: async () => ({ result: '' }),
  });
  const { executor, marking, settle } = start(net('tools', { transitions: [run] }));
  executor.inject('tool.call', 'a', 0);
  let firing = 0;
  for (const [now, attempt] of [
    [0, 1],
    [1000, 2],
    [3000, 3],
  ] as const) {
    executor.settle(now);
    const [begun] = executor.takeSettled().attempts;
    assert.equal(begun?.attempt, attempt);
    assert.ok(firing === 0 || firing === begun.firing);
    firing = begun.firing;
    executor.finish(
      firing,
      attempt,
      { ok: false, kind: 'error', error: new Error('no') },
      now,
      'tool.run',
    );
  }
  settle(3000);
  assert.deepEqual(values(marking, 'tool.result'), ['no after 3']);
});

test('taking a firing cancels it; a late result changes nothing', () => {
  const call = place('tool.call', z.string(), { environment: true });
  const result = place('tool.result', z.string());
  const stop = place('turn.stop', { environment: true });
  const run = effect('tool.run', {
    take: { call },
    give: oneOf({ result }),
    failed: () => ({ result: 'failed' }),
    run: async () => ({ result: '' }),
  });
  const cancel = pure('turn.cancel', {
    take: { stop, firings: all(running(run), { min: 0 }) },
    give: allOf({ results: upTo(8, result) }),
    run: ({ firings }) => ({ results: firings.map((firing) => `cancelled ${firing.inputs.call}`) }),
  });
  const aborted: number[] = [];
  const marking = emptyMarking();
  const executor = new Executor(compile(net('tools', { transitions: [run, cancel] })), marking, {
    firingIdOf: String,
    onAbort: (firing) => aborted.push(firing),
  });
  executor.begin(0);
  executor.inject('tool.call', 'a', 0);
  executor.inject('tool.call', 'b', 0);
  executor.settle(0);
  const { attempts } = executor.takeSettled();
  assert.deepEqual(
    executor.wouldAbort('turn.stop', null),
    attempts.map(({ firing }) => firing),
  );
  executor.inject('turn.stop', null, 1);
  executor.settle(1);
  executor.finish(
    attempts[0]?.firing ?? 0,
    1,
    { ok: true, value: { result: 'late' } },
    2,
    'tool.run',
  );
  executor.settle(2);
  assert.deepEqual(
    aborted,
    attempts.map(({ firing }) => firing),
  );
  assert.deepEqual(values(marking, 'tool.result'), ['cancelled a', 'cancelled b']);
});

test('a transition that throws becomes a fault that holds its inputs', () => {
  const message = place('user.in', z.string(), { environment: true });
  const said = place('said', z.string());
  const say = pure('say', {
    take: { message },
    give: oneOf({ said }),
    run: ({ message }) => {
      if (message === 'poison') throw new Error('cannot');
      return { said: message };
    },
  });
  const { executor, marking, settle } = start(
    net('say', { initial: [initially(message, 'first')], transitions: [say] }),
  );
  executor.inject('user.in', 'poison', 1);
  executor.inject('user.in', 'next', 1);
  settle(1);
  assert.deepEqual(values(marking, 'said'), ['first', 'next']);
  assert.deepEqual(values(marking, 'net.fault'), [
    { transition: 'say', code: 'error', message: 'cannot', inputs: { 'user.in': ['poison'] } },
  ]);
});
