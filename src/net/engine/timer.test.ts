import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import * as z from 'zod';
import { ExecutorHarness } from '../../../test/nets/executor-harness.ts';
import { Agenda } from './agenda.ts';
import { all, allOf, many, matching, oneOf } from '../language/arcs.ts';
import type { Firing } from '../journal/marking.ts';
import { initialToken, net } from '../language/net.ts';
import type { Net } from '../language/net.ts';
import { place } from '../language/place.ts';
import { effect, pure } from '../language/transition.ts';
import type { Transition } from '../language/transition.ts';

const Alarm = z.object({ name: z.string(), ms: z.number().optional() });
type Alarm = z.infer<typeof Alarm>;
const armed = place('alarm.armed', Alarm, { environment: true });
const rang = place('alarm.rang', z.string());
const of = (...transitions: readonly Transition[]): Net => net('timers', { transitions });

const ring = pure('alarm.ring', {
  take: { armed },
  after: ({ ms }) => ms ?? 100,
  give: oneOf({ rang }),
  run: ({ armed }) => ({ rang: armed.name }),
});

test('a timed transition fires after the delay of its token, and a restart does not restart the delay', () => {
  const harness = new ExecutorHarness(of(ring));
  harness.now = 10;
  harness.inject(armed, { name: 'a' });
  harness.settle();
  assert.equal(harness.executor.nextDueAt, 110);
  for (const again of [harness, harness.replayed(), harness.restored()]) {
    assert.equal(again.executor.nextDueAt, 110);
    again.settle(109);
    assert.deepEqual(again.values(rang), []);
    again.settle(110);
    assert.deepEqual(again.values(rang), ['a']);
    assert.equal(again.executor.nextDueAt, undefined);
  }
});

test('each token has its own timer, and firings that are due together fire in the order of their due times', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(500), { minLength: 1, maxLength: 12 }),
      fc.nat(700),
      (delays, at) => {
        const harness = new ExecutorHarness(of(ring));
        delays.forEach((ms, index) => harness.inject(armed, { name: `${ms} ${index}`, ms }));
        harness.settle(0);
        harness.settle(at);
        const due = delays
          .map((ms, index) => ({ ms, name: `${ms} ${index}` }))
          .filter(({ ms }) => ms <= at);
        assert.deepEqual(
          harness.values(rang),
          due.toSorted((a, b) => a.ms - b.ms).map(({ name }) => name),
        );
        const later = delays.filter((ms) => ms > at);
        assert.equal(
          harness.executor.nextDueAt,
          later.length === 0 ? undefined : Math.min(...later),
        );
      },
    ),
    { numRuns: 60 },
  );
});

test('timers of several transitions fire by due time, then by priority', () => {
  const log: string[] = [];
  const alarm = (name: string, after: number, priority = 0): Transition => {
    const from = place(name, { environment: true });
    return pure(name, {
      take: { from },
      after,
      priority,
      give: allOf({}),
      run: () => {
        log.push(name);
        return {};
      },
    });
  };
  const call = place('call', { environment: true });
  const slow = effect('slow', {
    take: { call },
    timeoutMs: 30,
    give: oneOf({ rang }),
    failed: () => {
      log.push('slow');
      return { rang: 'failed' };
    },
    run: async () => ({ rang: 'ok' }),
  });
  const harness = new ExecutorHarness(
    of(alarm('late', 40), alarm('low', 20, -1), alarm('high', 20, 1), alarm('early', 10), slow),
  );
  for (const name of ['late', 'low', 'high', 'early', 'call']) harness.inject(name);
  harness.settle(0);
  harness.settle(100);
  assert.deepEqual(log, ['early', 'high', 'low', 'slow', 'late']);
});

test('untimed transitions fire before timed ones that are due', () => {
  const answer = place('answer', z.string(), { environment: true });
  const match = pure('match', {
    take: { armed: matching(armed, ({ name }) => name), answer: matching(answer, (name) => name) },
    give: oneOf({ rang }),
    run: ({ answer }) => ({ rang: `${answer} answered` }),
  });
  const harness = new ExecutorHarness(of(ring, match));
  harness.inject(armed, { name: 'a' });
  harness.settle(0);
  harness.now = 1000;
  harness.inject(answer, 'a');
  harness.settle(1000);
  assert.deepEqual(harness.values(rang), ['a answered']);
});

test('a token that is taken takes its timer with it', () => {
  const cancel = place('cancel', { environment: true });
  const disarm = pure('alarm.disarm', {
    take: { cancel, armed: all(armed) },
    give: allOf({}),
    run: () => ({}),
  });
  const harness = new ExecutorHarness(of(ring, disarm));
  harness.inject(armed, { name: 'a', ms: 100 });
  harness.inject(armed, { name: 'b', ms: 200 });
  harness.settle(0);
  harness.inject(cancel);
  harness.settle(50);
  assert.equal(harness.executor.nextDueAt, undefined);
});

test('a token whose timer expired while it was inhibited fires as soon as it is enabled', () => {
  const busy = place('busy');
  const free = place('free', { environment: true });
  const release = pure('release', { take: { free, busy }, give: allOf({}), run: () => ({}) });
  const held = { ...ring, unless: [busy] };
  const harness = new ExecutorHarness(
    net('held', { transitions: [held, release], initial: [initialToken(busy, null)] }),
  );
  harness.inject(armed, { name: 'a' });
  harness.settle(0);
  harness.settle(500);
  assert.equal(harness.executor.nextDueAt, undefined);
  // The machine's clock went back meanwhile, but the expired timer stays due.
  harness.now = 20;
  harness.inject(free);
  harness.settle();
  assert.deepEqual(harness.values(rang), ['a']);
});

test('an infinite delay sets no timer, and a delay function that throws is a fault', () => {
  const start = place('start', z.number().nullable(), { environment: true });
  const give = pure('give', {
    take: { start },
    give: oneOf({ armed }),
    run: ({ start }) => ({ armed: { name: 'x', ms: start ?? -1 } }),
  });
  const odd: Transition = {
    ...ring,
    after: ({ ms }: Alarm) => {
      if (ms === -1) throw new Error('no time');
      return ms === 0 ? Number.POSITIVE_INFINITY : 100;
    },
  };
  const harness = new ExecutorHarness(of(give, odd));
  harness.inject(start, 0);
  harness.inject(start, null);
  harness.settle(0);
  assert.equal(harness.executor.nextDueAt, undefined);
  assert.equal(harness.values(armed).length, 1);
  assert.equal(harness.values('net.fault').length, 1);
});

test('"many" waits until that many tokens are due, "all" until the first token is due', () => {
  const names = (tokens: readonly Alarm[]): string => tokens.map(({ name }) => name).join('+');
  const pair: Transition = {
    ...ring,
    take: { armed: many(2, armed) },
    run: ({ armed }: { armed: readonly Alarm[] }) => ({ rang: names(armed) }),
  };
  const sweep: Transition = { ...pair, take: { armed: all(armed) } };
  for (const [t, at, expected] of [
    [pair, 20, 'b+a'],
    [sweep, 10, 'a+b+c'],
  ] as const) {
    const harness = new ExecutorHarness(of(t));
    harness.inject(armed, { name: 'a', ms: 20 });
    harness.inject(armed, { name: 'b', ms: 10 });
    harness.inject(armed, { name: 'c', ms: 30 });
    harness.settle(at - 1);
    assert.deepEqual(harness.values(rang), []);
    harness.settle(at);
    assert.deepEqual(harness.values(rang), [expected]);
  }
});

test('with keyed inputs, a due token does not wait for an older token that is not due', () => {
  const reason = place('reason', z.string(), { environment: true });
  const tell = pure('tell', {
    take: { armed: matching(armed, ({ name }) => name), reason: matching(reason, (name) => name) },
    after: (token) => (typeof token === 'string' ? 0 : (token.ms ?? 100)),
    give: oneOf({ rang }),
    run: ({ armed }) => ({ rang: `${armed.name} ${armed.ms}` }),
  });
  const harness = new ExecutorHarness(of(tell));
  harness.inject(armed, { name: 'a', ms: 500 });
  harness.inject(armed, { name: 'a', ms: 10 });
  harness.inject(reason, 'a');
  harness.settle(0);
  harness.settle(10);
  assert.deepEqual(harness.values(rang), ['a 10']);
});

test('a timer that fires can start the next one, and its firing time is its due time', () => {
  const again = pure('again', {
    take: { armed },
    after: 100,
    give: allOf({ rang, armed }),
    run: ({ armed }) => ({ rang: armed.name, armed }),
  });
  const harness = new ExecutorHarness(of(again));
  harness.inject(armed, { name: 'a' });
  harness.settle(0);
  for (const now of [100, 200, 350]) harness.settle(now);
  assert.equal(harness.values(rang).length, 3);
  assert.equal(harness.executor.nextDueAt, 450);
});

test('timers of ended firings are removed', () => {
  const call = place('call', z.number(), { environment: true });
  const ended = place('ended', z.number());
  const run = effect('run', {
    take: { call },
    timeoutMs: 3_600_000,
    give: oneOf({ ended }),
    failed: () => ({ ended: -1 }),
    run: async () => ({ ended: 0 }),
  });
  const { marking, net: built } = new ExecutorHarness(of(run));
  const agenda = new Agenda({ net: built, marking, firings: new Map(), toFiringId: String });
  for (let id = 1; id <= 1000; id++) {
    const held = { id, t: 'run', startedAt: 0, inputs: new Map(), reads: noReads, crashes: 0 };
    const times = { attempt: 1, timeoutAt: id, retryAt: undefined, reason: undefined };
    const waits: Firing = { kind: 'firing', ...held, ...times };
    if (id > 990) marking.firings.set(id, waits);
    agenda.addFiringTimer(waits);
  }
  assert.ok(agenda.timers < 100, `${agenda.timers} timers`);
  assert.equal(agenda.nextDueAt, 991);
});

const noReads = { tokens: new Map(), lists: new Map(), maps: new Map(), shared: {} };
