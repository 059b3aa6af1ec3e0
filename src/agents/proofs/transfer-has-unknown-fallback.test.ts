import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { all, allOf, compile, net, oneOf, optional, outlet, place, pure } from '../../net/index.ts';
import type { Transition } from '../../net/index.ts';
import { InvalidInputError } from '../../core/index.ts';
import { transferHasUnknownFallback } from './transfer-has-unknown-fallback.ts';

const asked = place('asked', { environment: true });
const transfer = place('transfer', v.string());
const billing = place('target/billing', v.string());
const unknown = place('target/unknown', v.string());
const said = outlet('said', v.string());

const ask = pure('transfer.ask', {
  take: { asked },
  give: allOf({ transfer }),
  run: () => ({ transfer: 'billing' }),
});
const serve = pure('billing.serve', { take: { billing }, give: allOf({}), run: () => ({}) });
const sorry = pure('unknown.answer', { take: { unknown }, give: allOf({}), run: () => ({}) });
/** A router whose `run` no test calls. */
const route = (give: Transition['give']): Transition => ({
  ...pure('transfer.route', { take: { transfer }, give: allOf({}), run: () => ({}) }),
  give,
});
const good = route(oneOf({ billing, unknown }));

const findProblems = (...transitions: readonly Transition[]): readonly string[] =>
  transferHasUnknownFallback(compile(net('own', { transitions })), { transfer: 'transfer' });

test('a router with an alternative for unknown names passes', () => {
  assert.deepEqual(findProblems(ask, good, serve, sorry), []);
});

test('the fallback can be an outlet', () => {
  const out = outlet('target/unknown', v.string());
  assert.deepEqual(findProblems(ask, route(oneOf({ billing, out })), serve), []);
});

test('a router without an alternative for unknown names is reported', () => {
  assert.match(
    findProblems(ask, route(oneOf({ billing, said })), serve).join(),
    /has no alternative for an unknown name/,
  );
});

test('an optional fallback is not a fallback', () => {
  const give = allOf({ billing: optional(billing), unknown: optional(unknown) });
  assert.match(
    findProblems(ask, route(give), serve, sorry).join(),
    /has no alternative for an unknown name/,
  );
  const maybe = oneOf({ billing, none: allOf({ unknown: optional(unknown) }) });
  assert.match(
    findProblems(ask, route(maybe), serve, sorry).join(),
    /has no alternative for an unknown name/,
  );
});

test('transfers to an unknown name that no transition takes are reported, and so are transfers without a router', () => {
  assert.match(findProblems(ask, good, serve).join(), /no transition takes from "target\/unknown"/);
  assert.match(findProblems(ask).join(), /no transition takes from "transfer"/);
});

test('every router is checked, including one that takes several tokens at once', () => {
  const second = {
    ...good,
    name: 'transfer.sweep',
    take: { all: all(transfer) },
    give: oneOf({ billing }),
  };
  const problems = findProblems(ask, good, second, serve, sorry);
  assert.equal(problems.length, 1);
  assert.match(problems.join(), /"transfer.sweep"/);
});

test('a transfer place that the net does not have is an error', () => {
  const of = compile(net('own', { transitions: [ask, good, serve, sorry] }));
  assert.throws(() => transferHasUnknownFallback(of, { transfer: 'transfers' }), InvalidInputError);
});
