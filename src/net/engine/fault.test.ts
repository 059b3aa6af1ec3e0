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
const faults = (play: ExecutorHarness): readonly Fault[] =>
  play.values(faultPlace) as readonly Fault[];

function thrower(code?: string): never {
  throw Object.assign(new Error('cannot'), code === undefined ? {} : { code });
}

test('a transition that throws becomes a fault that holds its inputs, and the next message is processed', () => {
  const say = pure('say', {
    take: { message },
    give: oneOf({ said }),
    run: ({ message }) => (message === 'poison' ? thrower('EPOISON') : { said: message }),
  });
  const play = of(say);
  play.inject(message, 'poison');
  play.inject(message, 'next');
  play.settle(1);
  assert.deepEqual(play.values(said), ['next']);
  assert.deepEqual(faults(play), [
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
    const play = of(say(thrown));
    play.inject(message, 'x');
    play.settle();
    return faults(play)[0]?.message;
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
  const play = of(say, handle);
  play.inject(message, 'x');
  play.settle();
  assert.deepEqual(play.values(said), ['sorry, say: cannot']);
});

test('a fault of the transition that handles faults causes no further faults', () => {
  const say = pure('say', { take: { message }, give: oneOf({ said }), run: () => thrower() });
  const handle = pure('handle', {
    take: { fault: faultPlace },
    give: oneOf({ said }),
    run: () => thrower(),
  });
  const play = of(say, handle);
  play.inject(message, 'x');
  play.settle();
  assert.deepEqual(play.summary.slice(-2), ['faulted say', 'faulted handle']);
  assert.equal(play.values(faultPlace).length, 0);
  assert.equal(play.values(unhandledFaultPlace).length, 1);
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
  const play = of(run, cancel);
  play.inject(call, 'a');
  play.inject(call, 'b');
  play.settle(0);
  const firings = [...play.running.keys()];
  play.inject(stop);
  play.settle(0);
  assert.deepEqual(play.aborted, firings);
  assert.deepEqual(faults(play)[0]?.inputs, { stop: [null], 'tool.call': ['a', 'b'] });
  assert.equal(play.marking.firings.size, 0);
  assertSameMarking(play.marking, play.records);
});

test('an effect whose `failed` throws becomes a fault that holds its inputs', () => {
  const broken = (more: Partial<Transition>): ExecutorHarness => {
    const run = effect('run', {
      take: { message },
      give: oneOf({ result }),
      failed: () => thrower('EFAILED'),
      run: async () => ({ result: 'ok' }),
    });
    const play = of({ ...run, ...more });
    play.inject(message, 'x');
    play.settle(0);
    return play;
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
  const play = new ExecutorHarness(
    net('spin', { transitions: [feed, eat, listen], initial: [initialToken(spin, 0)] }),
  );
  play.inject(message, 'x');
  play.settle();
  assert.deepEqual(play.values(result), ['heard']);
  assert.ok(
    faults(play).some(({ code, transition }) => code === 'settle_limit' && transition === 'feed'),
  );
  const count = play.records.length;
  assert.ok(count > 10_000 && count < 11_000, String(count));
  play.settle();
  assert.equal(play.records.length, count);
});

test('a large net may fire ten thousand times in one step', () => {
  const many = place('many', z.number());
  const work = pure('work', { take: { many }, give: allOf({}), run: () => ({}) });
  const play = new ExecutorHarness(
    net('hard', { transitions: [work], initial: [initialToken(many, 1, 9_999)] }),
  );
  play.settle();
  assert.equal(faults(play).length, 0);
});
