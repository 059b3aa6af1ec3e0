import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { all, allOf, append, each, many, matching, oneOf, optional, upTo } from './arcs.ts';
import { instance, join } from './compose.ts';
import { initialToken, net } from './net.ts';
import { listPlace, place } from './place.ts';
import { effect, pure, running } from './transition.ts';

// These misuses must not compile: removing one `@ts-expect-error` below must make `npm run check` fail.

const request = place('model.request', z.object({ text: z.string() }));
const response = place(
  'model.response',
  z.object({ reply: z.string(), calls: z.array(z.string()) }),
);
const failed = place('model.failed', z.object({ kind: z.enum(['rate', 'server']) }));
const budget = place('turn.budget');
const stopped = place('turn.stopped', z.enum(['budget', 'user']));
const call = place('tool.call', z.string());
const results = place('tool.result', z.string());
const history = listPlace('conversation', z.string());
declare const model: {
  generate: (r: { text: string }, s: AbortSignal) => Promise<{ reply: string; calls: string[] }>;
};

test('the types of what each transition takes and produces are inferred', () => {
  const ask = effect('model.call', {
    take: { request, budget },
    read: { history },
    unless: [stopped],
    give: oneOf({ response, failed }),
    failed: () => ({ failed: { kind: 'server' } }),
    run: async ({ request, history }, { signal }) => ({
      response: await model.generate({ text: history.join(request.text) }, signal),
    }),
  });
  pure('model.route', {
    take: { response },
    give: oneOf({ calls: allOf({ call: upTo(8, call), said: append(history) }), stopped }),
    run: ({ response }) =>
      response.calls.length > 0
        ? { calls: { call: response.calls, said: [response.reply] } }
        : { stopped: 'user' },
  });
  pure('tool.gather', {
    take: { results: many(2, results) },
    read: { budget },
    give: oneOf({ request }),
    run: ({ results }) => ({ request: { text: results.join(' ') } }),
  });
  pure('tool.drain', {
    take: { calls: all(call) },
    give: allOf({ results: each('calls', results), note: optional(stopped) }),
    run: ({ calls }) => ({ results: calls }),
  });
  pure('tool.pair', {
    take: { call: matching(call, (c) => c), result: matching(all(results), (r) => r) },
    give: oneOf({ stopped }),
    run: ({ call, result }) => ({ stopped: result.includes(call) ? 'user' : 'budget' }),
  });
  pure('turn.cancel', {
    take: { asked: all(running(ask), { min: 0 }), stopped },
    give: allOf({ requests: each('asked', request) }),
    run: ({ asked }) => ({ requests: asked.map((firing) => firing.inputs.request) }),
  });
});

test('invalid uses of the language do not compile', () => {
  pure('x', {
    take: { request },
    give: oneOf({ stopped }),
    // @ts-expect-error a value the place does not hold
    run: () => ({ stopped: 'nonsense' }),
  });
  pure('x', {
    take: { request },
    give: oneOf({ stopped, request }),
    // @ts-expect-error two alternatives of a oneOf
    run: ({ request }) => ({ stopped: 'user', request }),
  });
  pure('x', {
    take: { request },
    give: oneOf({ stopped }),
    // @ts-expect-error no alternative of a oneOf
    run: () => ({}),
  });
  pure('x', {
    take: { request },
    give: oneOf({ stopped }),
    // @ts-expect-error a token that is not taken
    run: ({ nope }) => ({ stopped: nope }),
  });
  // @ts-expect-error an effect without a failure outcome
  effect('x', {
    take: { request },
    give: oneOf({ response }),
    run: async ({ request }, { signal }) => ({ response: await model.generate(request, signal) }),
  });
  effect('x', {
    take: { request },
    give: oneOf({ response }),
    // @ts-expect-error a failure outcome that is none of the declared ones
    failed: () => ({ stopped: 'user' }),
    run: async ({ request }, { signal }) => ({ response: await model.generate(request, signal) }),
  });
  pure('x', {
    take: { request },
    give: allOf({ stopped, request }),
    // @ts-expect-error one of an allOf is missing
    run: () => ({ stopped: 'user' }),
  });
  pure('x', {
    take: { request },
    give: allOf({ stopped }),
    // @ts-expect-error several tokens where one goes
    run: () => ({ stopped: ['user'] }),
  });
  pure('x', {
    take: { request },
    give: allOf({ said: append(history) }),
    // @ts-expect-error a list place takes a list of its items
    run: () => ({ said: [1] }),
  });
  pure('x', {
    take: { requests: many(2, request) },
    give: oneOf({ stopped }),
    // @ts-expect-error many() gives a list
    run: ({ requests }) => ({ stopped: requests.text }),
  });
  // @ts-expect-error two ports with different tokens
  join(request, response);
  // @ts-expect-error an initial token of another type
  initialToken(stopped, 'nonsense');
  const asks = net('asks', { in: { request }, transitions: [] });
  // @ts-expect-error an instance whose port becomes a place of another type; the build refuses it too
  assert.throws(() => instance('y', asks, { request: response }), /cannot be one place/);
});
