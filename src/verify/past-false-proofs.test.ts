/**
 * Properties that an earlier version of the prover proved although the executor violates them. Each test names what the
 * model ignored.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import {
  allOf,
  compile,
  effect,
  Executor,
  emptyMarking,
  FiringKeyError,
  initialToken,
  matching,
  net,
  NetBuildError,
  oneOf,
  optional,
  outlet,
  place,
  pure,
  running,
  type CompiledNet,
  type FiringToken,
  type Transition,
} from '../net/index.ts';
import type { Bounds } from './properties/bounds.ts';
import { eventuallyAnswered, neverFiresAfter, unreachable } from './properties/create-property.ts';
import type { Property } from './properties/property.ts';
import { prove } from './prove.ts';
import type { PropertyResult } from './report.ts';

const a = place('a');
const b = place('b');
const job = place('job', z.object({ id: z.string() }));
const asked = place('asked', z.string(), { environment: true });

async function decide(
  of: CompiledNet,
  property: Property,
  bounds: Bounds = {},
): Promise<PropertyResult> {
  const { results } = await prove(of, {
    properties: [property],
    bounds: { faults: 0, ...bounds },
    route: 'search',
  });
  const [result] = results;
  assert.ok(result !== undefined);
  return result;
}

const work = effect('work', {
  take: { job },
  give: allOf({ b }),
  failed: () => ({ b: null }),
  retry: { attempts: 3, backoff: '1s..1s' },
  run: async () => ({ b: null }),
});

type WorkFiring = FiringToken<{ readonly job: { readonly id: string } }>;

/** Stops the work of this key. */
const stopBy = (getKey: (firing: WorkFiring) => string): Transition =>
  pure('stop', {
    take: {
      asked: matching(asked, (key) => key),
      working: matching(running(work), getKey as (firing: unknown) => string),
    },
    give: allOf({ a }),
    run: () => ({ a: null }),
  });

const workNet = (getKey: (firing: WorkFiring) => string): CompiledNet =>
  compile(
    net('work', {
      transitions: [work, stopBy(getKey)],
      initial: [initialToken(job, { id: 'j' })],
    }),
  );

test('a net that matches firings by their attempt does not build, because the attempt changes', () => {
  assert.throws(
    () => workNet(({ attempt }) => `${attempt}`),
    (error: unknown) =>
      error instanceof NetBuildError &&
      /"stop" matches "running\(work\)" by the attempt of a firing/.test(error.message),
  );
});

test('an attempt that the build did not see is a fault of the firing, not a key', () => {
  // The build cannot know that the id of a job is "j".
  const of = workNet((firing) => (firing.inputs.job.id === 'j' ? `${firing.attempt}` : ''));
  const executor = new Executor(of, emptyMarking(), { toFiringId: String });
  executor.begin(0);
  executor.settle(0);
  const { records } = executor.takeSettled();
  const fault = records.find((record) => record.kind === 'faulted');
  assert.equal(fault?.error.code, new FiringKeyError().code);
});

test('a firing that is copied or written as JSON has no attempt, so its key is constant', async () => {
  const of = workNet((firing) => JSON.stringify({ ...firing }));
  const property = neverFiresAfter('work', 'a');
  assert.equal((await decide(of, property)).verdict, 'proved');
});

test('the key of an initial token is that of the value that the schema returns', async () => {
  const Keyed = z.object({ key: z.string().default('x') });
  const left = place('left', Keyed);
  const right = place('right', Keyed);
  const join = pure('join', {
    take: { left: matching(left, ({ key }) => key), right: matching(right, ({ key }) => key) },
    give: allOf({ b }),
    run: () => ({ b: null }),
  });
  const of = compile(
    net('defaults', {
      transitions: [join],
      initial: [initialToken(left, {} as { key: string }), initialToken(right, { key: 'x' })],
    }),
  );
  assert.equal((await decide(of, unreachable('b'))).verdict, 'refuted');
});

test('a bound that keeps a place empty keeps the outcomes that give it nothing', async () => {
  const give = pure('give', {
    take: { a },
    give: allOf({ b, job: optional(job) }),
    run: () => ({ b: null }),
  });
  const of = compile(net('optional', { transitions: [give], initial: [initialToken(a, null)] }));
  const { verdict } = await decide(of, unreachable('b'), { empty: ['job'] });
  assert.equal(verdict, 'refuted');
  const empty = await decide(of, unreachable('job'), { empty: ['job'] });
  assert.deepEqual([empty.verdict, empty.over], ['proved', ['no token in job', '<= 0 faults']]);
});

test('an outcome that must give an empty place a token does not occur', async () => {
  const route = pure('route', { take: { a }, give: oneOf({ b, job }), run: () => ({ b: null }) });
  const of = compile(net('route', { transitions: [route], initial: [initialToken(a, null)] }));
  assert.equal((await decide(of, unreachable('job'), { empty: ['job'] })).verdict, 'proved');
  assert.equal((await decide(of, unreachable('b'), { empty: ['job'] })).verdict, 'refuted');
});

const question = outlet('question', z.string());
const answer = outlet('answer', z.string());

/** Asks through an outlet, and answers if `withAnswer`. */
const asking = (withAnswer: boolean): CompiledNet =>
  compile(
    net('asking', {
      transitions: [
        pure('ask', { take: { a }, give: allOf({ question, b }), run: () => unused() }),
        pure('reply', {
          take: { b },
          give: withAnswer ? allOf({ answer }) : allOf({}),
          run: () => unused(),
        } as never),
      ],
      out: { question, answer },
      initial: [initialToken(a, null)],
    }),
  );

function unused(): never {
  throw new Error('a proof runs no transition');
}

test('a question that leaves through an outlet is open until it is answered', async () => {
  const property = eventuallyAnswered('question', 'answer');
  assert.equal((await decide(asking(false), property)).verdict, 'refuted');
  assert.equal((await decide(asking(true), property)).verdict, 'proved');
});

test('a property that holds until a token leaves through an outlet sees it leave', async () => {
  const property = neverFiresAfter('reply', 'b', { until: 'question' });
  const of = compile(
    net('until', {
      transitions: [
        pure('begin', { take: { a }, give: allOf({ b, job }), run: () => unused() }),
        pure('leave', { take: { job }, give: allOf({ question }), run: () => unused() }),
        pure('reply', { take: { b }, unless: [job], give: allOf({}), run: () => unused() }),
      ] as never,
      out: { question },
      initial: [initialToken(a, null)],
    }),
  );
  assert.equal((await decide(of, property)).verdict, 'proved');
  assert.equal((await decide(of, neverFiresAfter('reply', 'b'))).verdict, 'refuted');
});
