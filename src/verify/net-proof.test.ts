import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allOf, compile, effect, initialToken, net, oneOf, place, pure } from '../net/index.ts';
import type { CompiledNet, Transition } from '../net/index.ts';
import { netProof } from './net-proof.ts';
import type { Property } from './properties/property.ts';
import { prove } from './prove.ts';

const order = place('order', { environment: true });
const answer = place('answer', { environment: true });
const free = place('free');
const waiting = place('waiting');
const approved = place('approved');
const done = place('done');
const flag = place('flag');

const compileNet = (...transitions: readonly Transition[]): CompiledNet =>
  compile(net('shop', { initial: [initialToken(free, null)], transitions }));

const ask = pure('ask', {
  take: { order, free },
  give: allOf({ waiting }),
  run: () => ({ waiting: null }),
});
const approve = pure('approve', {
  take: { waiting, answer },
  give: oneOf({ approved, free }),
  run: () => ({ free: null }),
});
const send = effect('send', {
  take: { approved },
  give: allOf({ free, done }),
  failed: () => ({ free: null, done: null }),
  run: async () => ({ free: null, done: null }),
});

/** Returns the verdicts of the default properties by name. */
async function proveDefaults(of: CompiledNet): Promise<Readonly<Record<string, string>>> {
  const { properties, bounds } = netProof(of);
  const { results } = await prove(of, { properties: Object.values(properties), bounds });
  return Object.fromEntries(
    Object.keys(properties).map((name, index) => [name, results[index]?.verdict ?? '']),
  );
}

function getResting(property: Property | undefined): readonly (readonly string[])[] {
  assert.ok(property?.kind === 'deadlockFree');
  return property.resting.map(({ marked, allowed = [] }) => [...marked, ...allowed]);
}

test('every net has the properties deadlockFree, settles and bounded, without faults and shutdowns', () => {
  const { properties, bounds } = netProof(compileNet(ask));
  assert.deepEqual(Object.keys(properties), ['deadlockFree', 'settles', 'bounded']);
  assert.deepEqual(bounds, { faults: 0, shutdowns: false });
});

test('a net may rest in initial places, in places that nothing takes from, and where the caller allows', () => {
  const of = compileNet(ask, approve, send);
  const places = (property: Property | undefined): readonly string[] => [
    ...new Set(getResting(property).flat()),
  ];
  const byDefault = places(netProof(of).properties['deadlockFree']);
  assert.ok(byDefault.includes('free') && byDefault.includes('done'));
  assert.ok(!byDefault.includes('waiting') && !byDefault.includes('approved'));
  const wider = netProof(of, { quiescentPlaces: ['waiting'] });
  assert.ok(places(wider.properties['deadlockFree']).includes('waiting'));
});

test('an approval is found, and a transition that goes around it is refuted', async () => {
  const checked = netProof(compileNet(ask, approve, send)).properties['approved/approved'];
  assert.ok(checked?.kind === 'precedes');
  assert.deepEqual([checked.first, checked.transitions, checked.each], ['approve', ['send'], true]);
  const verdicts = await proveDefaults(compileNet(ask, approve, send));
  assert.equal(verdicts['approved/approved'], 'proved');
  const skip = pure('skip', {
    take: { waiting },
    priority: -1,
    give: allOf({ approved }),
    run: () => ({ approved: null }),
  });
  const around = await proveDefaults(compileNet(ask, approve, send, skip));
  assert.equal(around['approved/approved'], 'refuted');
});

test('what other work may release as well is no approval', () => {
  const unasked = pure('unasked', {
    take: { order },
    give: allOf({ approved }),
    run: () => ({ approved: null }),
  });
  const { properties } = netProof(compileNet(ask, approve, send, unasked));
  assert.equal('approved/approved' in properties, false);
});

/** Two transitions that set a flag, the second inhibited by it or not. */
function commits(both: boolean): readonly Transition[] {
  const commit = (name: string, isInhibited: boolean): Transition =>
    pure(name, {
      take: { order },
      unless: isInhibited ? [flag] : [],
      give: allOf({ flag }),
      run: () => ({ flag: null }),
    });
  return [commit('commit.a', true), commit('commit.b', both)];
}

test('a flag that stays marked allows one of the transitions that it inhibits', async () => {
  const of = compileNet(...commits(true));
  const { properties, bounds } = netProof(of);
  const once = properties['once/flag'];
  assert.ok(once?.kind === 'atMost');
  assert.deepEqual([once.transitions, once.max], [['commit.a', 'commit.b'], 1]);
  const twice = { ...bounds, environment: { order: 2 } };
  const { results } = await prove(of, { properties: [once], bounds: twice });
  assert.equal(results[0]?.verdict, 'proved');
});

test('a place that is emptied, or that a producer does not mind, is no flag', () => {
  assert.equal('once/flag' in netProof(compileNet(...commits(false))).properties, false);
  const clear = pure('clear', {
    take: { flag },
    give: allOf({ done }),
    run: () => ({ done: null }),
  });
  const of = compileNet(...commits(true), clear);
  assert.equal('once/flag' in netProof(of).properties, false);
});

test('noStaleCommits belongs to nets with a generation only', () => {
  const generation = place('generation');
  const read = pure('read', {
    take: { order },
    read: { generation },
    give: oneOf({ done, nothing: allOf({}) }),
    run: () => ({ done: null }),
  });
  const renew = pure('renew', {
    take: { answer, generation },
    give: allOf({ generation }),
    run: () => ({ generation: null }),
  });
  const of = compile(
    net('shop', { initial: [initialToken(generation, null)], transitions: [read, renew] }),
  );
  assert.equal(netProof(of).properties['noStaleCommits']?.kind, 'noStaleCommits');
  assert.equal('noStaleCommits' in netProof(compileNet(ask)).properties, false);
  const readLate = effect('read', {
    take: { order },
    read: { setting: generation },
    give: oneOf({ done, nothing: allOf({}) }),
    failed: () => ({ done: null }),
    run: async () => ({ done: null }),
  });
  const setting = compile(
    net('shop', { initial: [initialToken(generation, null)], transitions: [readLate, renew] }),
  );
  assert.equal('noStaleCommits' in netProof(setting).properties, false);
});

test('a net that stops while something waits is refuted, unless the caller allows the place', async () => {
  const of = compileNet(ask, approve, send);
  assert.deepEqual(await proveDefaults(of), {
    deadlockFree: 'refuted',
    settles: 'proved',
    bounded: 'proved',
    'approved/approved': 'proved',
  });
  const { properties, bounds } = netProof(of, { quiescentPlaces: ['waiting', 'order', 'answer'] });
  const { results } = await prove(of, { properties: Object.values(properties), bounds });
  assert.ok(results.every(({ verdict }) => verdict === 'proved'));
});
