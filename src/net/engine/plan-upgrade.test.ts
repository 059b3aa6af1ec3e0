import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { assertSameMarking, ExecutorHarness, replay } from '../../../test/nets/executor-harness.ts';
import { allOf, append, oneOf, put } from '../language/arcs.ts';
import { compile } from '../build/compile.ts';
import { NetChangedError } from '../language/net-errors.ts';
import { planUpgrade } from './plan-upgrade.ts';
import type { Migrate } from './plan-upgrade.ts';
import { initialToken, net } from '../language/net.ts';
import type { Net } from '../language/net.ts';
import { listPlace, mapPlace, place } from '../language/place.ts';
import type { TokenPlace } from '../language/place.ts';
import { effect, pure } from '../language/transition.ts';
import type { Transition } from '../language/transition.ts';

const word = place('word', z.string(), { environment: true });
const kept = place('kept', z.string());
const history = listPlace('history', z.string());
const state = mapPlace('state');

/** Inputs stay in `to`, in the list and in the map. `slow` keeps one call in flight. */
function version(
  names: {
    kept?: TokenPlace<string>;
    effect?: string;
    list?: typeof history;
    map?: typeof state;
  } = {},
  ...more: readonly Transition[]
): Net {
  const to = names.kept ?? kept;
  const list = names.list ?? history;
  const map = names.map ?? state;
  const call = place('call', z.string(), { environment: true });
  return net('live', {
    transitions: [
      pure('keep', {
        take: { word },
        give: allOf({ to, said: append(list), state: put(map) }),
        run: ({ word: value }) => ({ to: value, said: [value], state: { set: { last: value } } }),
      }),
      effect(names.effect ?? 'slow', {
        take: { call },
        read: { list },
        give: oneOf({ to }),
        failed: ({ message }) => ({ to: message }),
        onCrash: 'rerun',
        run: async () => ({ to: '' }),
      }),
      ...more,
    ],
  });
}

const extra = pure('extra', {
  take: { other: place('other', { environment: true }) },
  give: allOf({}),
  run: () => ({}),
});

function startSession(): ExecutorHarness {
  const harness = new ExecutorHarness(version());
  for (const value of ['a', 'b']) harness.inject(word, value);
  harness.inject('call', 'c');
  harness.settle(10);
  return harness;
}

/** Continues the session under a changed net, after its previous records. */
function continueUnder(harness: ExecutorHarness, changed: Net, migrate?: Migrate): ExecutorHarness {
  const next = new ExecutorHarness(changed, replay(harness.records));
  const upgrade = planUpgrade(next.marking, next.net, migrate);
  next.now = harness.now;
  if (upgrade !== undefined) next.executor.appendSystemRecord(upgrade, harness.now);
  next.executor.recover(harness.now);
  next.settle();
  next.records.unshift(...harness.records);
  assertSameMarking(next.marking, next.records);
  return next;
}

function listRejectedPlaces(
  harness: ExecutorHarness,
  changed: Net,
  migrate?: Migrate,
): readonly string[] {
  const { marking } = harness;
  const before = JSON.stringify([...marking.tokens]);
  try {
    planUpgrade(marking, compile(changed), migrate);
  } catch (error) {
    assert.ok(error instanceof NetChangedError);
    assert.equal(JSON.stringify([...marking.tokens]), before);
    return error.places;
  }
  return assert.fail('it was not refused');
}

test('the same net needs no upgrade', () => {
  const harness = startSession();
  assert.equal(planUpgrade(harness.marking, compile(version())), undefined);
});

test('a session continues under a net with more places, and keeps its tokens, lists and firings', () => {
  const next = continueUnder(startSession(), version({}, extra));
  assert.equal(next.summary.filter((line) => line === 'upgraded').length, 1);
  assert.deepEqual(next.values(kept), ['a', 'b']);
  assert.deepEqual(next.list(history), ['a', 'b']);
  assert.deepEqual(next.attempt('slow').tokens, { call: 'c', list: ['a', 'b'] });
  assert.equal(next.marking.net.hash, next.net.hash);
});

test('a net without a marked place is rejected, the error names the missing places, and nothing changes', () => {
  const renamed = {
    kept: place('stored', z.string()),
    effect: 'fast',
    list: listPlace('log', z.string()),
    map: mapPlace('facts'),
  };
  assert.deepEqual(listRejectedPlaces(startSession(), version(renamed)), [
    'kept',
    'history',
    'state',
    'running(slow)',
  ]);
});

test('a place of another version or another kind is a different place', () => {
  assert.deepEqual(
    listRejectedPlaces(
      startSession(),
      version({ kept: place('kept', z.string(), { version: 2 }) }),
    ),
    ['kept'],
  );
  const swapped = { list: listPlace('state', z.string()), map: mapPlace('history') };
  assert.deepEqual(listRejectedPlaces(startSession(), version(swapped)), ['history', 'state']);
});

test('an empty place can be removed without a migration', () => {
  const harness = new ExecutorHarness(version());
  harness.settle();
  assert.doesNotThrow(() =>
    planUpgrade(harness.marking, compile(version({ kept: place('stored', z.string()) }))),
  );
});

test('a migration moves the tokens of each lost place, including firings in flight', () => {
  const lostPlaces: string[][] = [];
  const stored = place('stored', z.string());
  const renamed = {
    kept: stored,
    effect: 'fast',
    list: listPlace('log', z.string()),
    map: mapPlace('facts'),
  };
  const next = continueUnder(startSession(), version(renamed), (lost) => {
    lostPlaces.push([...lost]);
    return {
      moved: { kept: 'stored', 'running(slow)': 'running(fast)', history: 'log', state: 'facts' },
    };
  });
  assert.deepEqual(lostPlaces, [['kept', 'history', 'state', 'running(slow)']]);
  assert.deepEqual(next.values(stored), ['a', 'b']);
  assert.deepEqual(next.list({ name: 'log' }), ['a', 'b']);
  assert.deepEqual(next.attempt('fast').tokens, { call: 'c', list: ['a', 'b'] });
  next.inject(word, 'd');
  next.finish(next.attempt('fast'), { to: 'C' });
  next.settle();
  assert.deepEqual(next.values(stored), ['a', 'b', 'C', 'd']);
  assertSameMarking(next.marking, next.records);
});

test('a migration can drop tokens, swap places and add tokens', () => {
  const left = place('left', z.string(), { environment: true });
  const right = place('right', z.string(), { environment: true });
  const old = new ExecutorHarness(
    net('old', {
      transitions: [
        pure('x', { take: { left, right, never: kept }, give: allOf({}), run: () => ({}) }),
      ],
      initial: [
        initialToken(left, 'l'),
        initialToken(right, 'r'),
        initialToken(place('gone'), null, 3),
      ],
    }),
  );
  old.settle();
  const permit = place('permit');
  const changed = net('new', {
    transitions: [
      pure('x', { take: { left, right, never: kept, permit }, give: allOf({}), run: () => ({}) }),
    ],
  });
  const next = continueUnder(old, changed, () => ({
    moved: { left: 'right', right: 'left', gone: null },
    give: [initialToken(permit, null, 2)],
  }));
  assert.deepEqual(
    [next.values(left), next.values(right), next.values(permit)],
    [['r'], ['l'], [null, null]],
  );
});

test('a moved token must match the schema of its new place', () => {
  const numbers = place('numbers', z.number());
  const to = (target: string) => () => ({ moved: { kept: target } });
  const changed = version(
    { kept: place('stored', z.string()) },
    pure('n', { take: { numbers }, give: allOf({}), run: () => ({}) }),
  );
  assert.deepEqual(listRejectedPlaces(startSession(), changed, to('numbers')), ['kept']);
  assert.deepEqual(listRejectedPlaces(startSession(), changed, to('history')), ['kept']);
  assert.deepEqual(listRejectedPlaces(startSession(), changed, to('running(slow)')), ['kept']);
  assert.deepEqual(listRejectedPlaces(startSession(), changed, to('nowhere')), ['kept']);
  assert.deepEqual(listRejectedPlaces(startSession(), changed), ['kept']);
});

test('for a new timed transition, the delay of a token counts from its arrival', () => {
  const rang = place('rang', z.string());
  const ring = pure('ring', {
    take: { kept },
    after: (value) => (value === 'a' ? 100 : 200),
    give: oneOf({ rang }),
    run: ({ kept: value }) => ({ rang: value }),
  });
  const next = continueUnder(startSession(), version({}, ring));
  assert.equal(next.executor.nextDueAt, 110);
  next.settle(110);
  assert.deepEqual(next.values(rang), ['a']);
  assert.equal(next.restored().executor.nextDueAt, 210);
});

test('a moved list is restored from the earlier records, and a second upgrade can follow', () => {
  const log = listPlace('log', z.string());
  const first = continueUnder(startSession(), version({ list: log }), () => ({
    moved: { history: 'log' },
  }));
  first.inject(word, 'c');
  first.settle();
  assertSameMarking(first.marking, first.records);
  const second = continueUnder(first, version({}, extra), () => ({ moved: { log: 'history' } }));
  assert.deepEqual(second.list(history), ['a', 'b', 'c']);
});

test('a dropped list that an effect still reads is kept only for that firing', () => {
  const log = listPlace('log', z.string());
  const next = continueUnder(startSession(), version({ list: log }), () => ({
    moved: { history: null },
  }));
  assert.deepEqual(next.list({ name: 'log' }), []);
  next.inject(word, 'z');
  next.settle();
  assertSameMarking(next.marking, next.records);
});
