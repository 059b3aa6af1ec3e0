import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { assertSameMarking, ExecutorHarness } from '../../../test/nets/executor-harness.ts';
import { all, allOf, oneOf, upTo } from '../language/arcs.ts';
import { faultPlace, unhandledFaultPlace } from '../language/fault.ts';
import type { Fault } from '../language/fault.ts';
import { initialToken, net } from '../language/net.ts';
import { place } from '../language/place.ts';
import { effect, pure, running } from '../language/transition.ts';
import type { Transition } from '../language/transition.ts';

const message = place('user.in', z.string(), { environment: true });
const said = place('said', z.string());
const result = place('tool.result', z.string());
const of = (...transitions: readonly Transition[]): ExecutorHarness =>
  new ExecutorHarness(net('faults', { transitions }));
const faults = (harness: ExecutorHarness): readonly Fault[] =>
  harness.values(faultPlace) as readonly Fault[];

function thrower(code?: string): never {
  throw Object.assign(new Error('cannot'), code === undefined ? {} : { code });
}

test('a transition that throws becomes a fault that holds its inputs, and the next message is processed', () => {
  const say = pure('say', {
    take: { message },
    give: oneOf({ said }),
    run: ({ message }) => (message === 'poison' ? thrower('EPOISON') : { said: message }),
  });
  const harness = of(say);
  harness.inject(message, 'poison');
  harness.inject(message, 'next');
  harness.settle(1);
  assert.deepEqual(harness.values(said), ['next']);
  assert.deepEqual(faults(harness), [
    { transition: 'say', code: 'EPOISON', message: 'cannot', inputs: { 'user.in': ['poison'] } },
  ]);
});

test('a transition can throw a value that is not an Error', () => {
  const say = (thrown: unknown): Transition =>
    pure('say', {
      take: { message },
      give: oneOf({ said }),
      run: () => {
        throw thrown;
      },
    });
  const seen = ['text', 5, null, undefined].map((thrown) => {
    const harness = of(say(thrown));
    harness.inject(message, 'x');
    harness.settle();
    return faults(harness)[0]?.message;
  });
  const odd = (type: string): string => `a value that is not an Error was thrown: ${type}`;
  assert.deepEqual(seen, ['text', odd('number'), odd('object'), odd('undefined')]);
});

test('a net that consumes faults decides how to handle them', () => {
  const say = pure('say', { take: { message }, give: oneOf({ said }), run: () => thrower() });
  const handle = pure('handle', {
    take: { fault: faultPlace },
    give: oneOf({ said }),
    run: ({ fault }) => ({ said: `sorry, ${fault.transition}: ${fault.message}` }),
  });
  const harness = of(say, handle);
  harness.inject(message, 'x');
  harness.settle();
  assert.deepEqual(harness.values(said), ['sorry, say: cannot']);
});

test('a fault of the transition that handles faults causes no further faults', () => {
  const say = pure('say', { take: { message }, give: oneOf({ said }), run: () => thrower() });
  const handle = pure('handle', {
    take: { fault: faultPlace },
    give: oneOf({ said }),
    run: () => thrower(),
  });
  const harness = of(say, handle);
  harness.inject(message, 'x');
  harness.settle();
  assert.deepEqual(harness.summary.slice(-2), ['faulted say', 'faulted handle']);
  assert.equal(harness.values(faultPlace).length, 0);
  assert.equal(harness.values(unhandledFaultPlace).length, 1);
});

test('when a transition that took firings in flight throws, the fault holds their inputs and their attempts stop', () => {
  const call = place('tool.call', z.string(), { environment: true });
  const stop = place('stop', { environment: true });
  const run = effect('tool.run', {
    take: { call },
    give: oneOf({ result }),
    failed: () => ({ result: 'failed' }),
    run: async () => ({ result: 'ok' }),
  });
  const cancel = pure('cancel', {
    take: { stop, firings: all(running(run)) },
    give: allOf({ results: upTo(9, result) }),
    run: () => thrower(),
  });
  const harness = of(run, cancel);
  harness.inject(call, 'a');
  harness.inject(call, 'b');
  harness.settle(0);
  const firings = [...harness.running.keys()];
  harness.inject(stop);
  harness.settle(0);
  assert.deepEqual(harness.aborted, firings);
  assert.deepEqual(faults(harness)[0]?.inputs, { stop: [null], 'tool.call': ['a', 'b'] });
  assert.equal(harness.marking.firings.size, 0);
  assertSameMarking(harness.marking, harness.records);
});

test('an effect whose `failed` throws becomes a fault that holds its inputs', () => {
  const broken = (more: Partial<Transition>): ExecutorHarness => {
    const run = effect('run', {
      take: { message },
      give: oneOf({ result }),
      failed: () => thrower('EFAILED'),
      run: async () => ({ result: 'ok' }),
    });
    const harness = of({ ...run, ...more });
    harness.inject(message, 'x');
    harness.settle(0);
    return harness;
  };
  const outcomes: Fault[][] = [];
  const failing = broken({});
  failing.fail(failing.attempt('run'));
  failing.settle();
  outcomes.push([...faults(failing)]);
  const backoff = broken({ retry: { attempts: 2, backoff: () => thrower('EBACKOFF') } });
  backoff.fail(backoff.attempt('run'));
  backoff.settle();
  outcomes.push([...faults(backoff)]);
  outcomes.push([...faults(broken({ timeoutMs: () => thrower('ETIMEOUT') }))]);
  outcomes.push([...faults(broken({ timeoutMs: () => Number.NaN }))]);
  const policy = broken({ onCrash: () => thrower('EPOLICY') });
  policy.executor.recover(0);
  outcomes.push([...faults(policy)]);
  const seen = outcomes.map(([fault]) => [fault?.code, fault?.inputs]);
  const held = { 'user.in': ['x'] };
  assert.deepEqual(seen, [
    ['EFAILED', held],
    ['EBACKOFF', held],
    ['ETIMEOUT', held],
    ['error', held],
    ['EPOLICY', held],
  ]);
});

test('an endless loop of firings ends with a fault, and the rest of the net continues', () => {
  const spin = place('spin', z.number());
  const feed = pure('feed', {
    take: { spin },
    give: allOf({ spin, more: upTo(1, said) }),
    run: ({ spin }) => ({ spin: spin + 1, more: spin % 2 === 0 ? [] : ['x'] }),
  });
  const eat = pure('eat', { take: { said }, give: allOf({}), run: () => ({}) });
  const listen = pure('listen', {
    take: { message },
    priority: -1,
    give: oneOf({ result }),
    run: () => ({ result: 'heard' }),
  });
  const harness = new ExecutorHarness(
    net('spin', { transitions: [feed, eat, listen], initial: [initialToken(spin, 0)] }),
  );
  harness.inject(message, 'x');
  harness.settle();
  assert.deepEqual(harness.values(result), ['heard']);
  assert.ok(
    faults(harness).some(
      ({ code, transition }) => code === 'settle_limit' && transition === 'feed',
    ),
  );
  const count = harness.records.length;
  assert.ok(count > 10_000 && count < 11_000, String(count));
  harness.settle();
  assert.equal(harness.records.length, count);
});

test('a large net may fire ten thousand times in one step', () => {
  const many = place('many', z.number());
  const work = pure('work', { take: { many }, give: allOf({}), run: () => ({}) });
  const harness = new ExecutorHarness(
    net('hard', { transitions: [work], initial: [initialToken(many, 1, 9_999)] }),
  );
  harness.settle();
  assert.equal(faults(harness).length, 0);
});
