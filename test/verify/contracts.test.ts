import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  allOf,
  compile,
  effect,
  initialToken,
  many,
  matching,
  net,
  outlet,
  place,
  pure,
  upTo,
} from '../../src/net/index.ts';
import { combineStates } from '../../src/verify/contracts/combine-states.ts';
import type { ComponentTree } from '../../src/verify/contracts/contract.ts';
import {
  atMost,
  deadlockFree,
  neverFiresAfter,
  placeBound,
  prove,
  unreachable,
} from '../../src/verify/index.ts';
import { string } from 'valibot';
import { compareGroupedNets } from './grouped-nets.ts';
import { compareContracts } from './random-contracts.ts';
import { compareStubTrees } from './stub-trees.ts';
import { compareTwinNets } from './twin-nets.ts';

// test/long/contracts.test.ts compares thousands. The seeds here are fixed, because some nets take long.
const NETS = 20;
const LARGE_NETS = 8;
const TREES = 7;
const GROUPED_NETS = 35;
const TWIN_NETS = 12;

test('nothing follows from random contracts of random nets that an independent search refutes', () => {
  const tally = compareContracts(NETS, 400, 'small', { firstSeed: 70 });
  assert.deepEqual(tally.unsound, []);
  assert.ok(tally.proved > 0 && tally.refuted > 0, JSON.stringify(tally));
});

test('nothing follows from random contracts of random nets with numbers above the caps of views', () => {
  const tally = compareContracts(LARGE_NETS, 400, 'large', { firstSeed: 1 });
  assert.deepEqual(tally.unsound, []);
  assert.ok(tally.proved > 0 && tally.refuted > 0, JSON.stringify(tally));
});

test('nothing follows from the contracts of stub agents that a search of the whole tree refutes', async () => {
  const tally = await compareStubTrees(TREES, 3_000, { firstSeed: 21 });
  assert.deepEqual(tally.unsound, []);
  assert.ok(tally.proved > 0 && tally.refuted > 0, JSON.stringify(tally));
});

test('nothing follows from contracts of equal components that an independent search refutes', () => {
  const tally = compareTwinNets(TWIN_NETS, 400, { firstSeed: 420 });
  assert.deepEqual(tally.unsound, []);
  assert.ok(tally.proved > 2 * tally.nets && tally.refuted > 0, JSON.stringify(tally));
});

test('nothing follows from views that count similar places together that an independent search refutes', () => {
  const { unsound, ...tally } = compareGroupedNets(GROUPED_NETS, 1_000, { firstSeed: 1 });
  assert.deepEqual(unsound, []);
  assert.ok(tally.proved > 4 * tally.nets && tally.refuted > 2 * tally.nets, JSON.stringify(tally));
});

test('a sum of tokens counts what a firing takes, and stays unknown until the counts tell it', () => {
  for (const seed of [174, 771]) {
    const { unsound, nets } = compareGroupedNets(1, 1_000, { firstSeed: seed, lastSeed: seed });
    assert.deepEqual(unsound, []);
    assert.equal(nets, 1);
  }
});

const onlyCore: ComponentTree = { shared: [], ports: [], children: [] };

async function verdicts(...[compiled, options]: Parameters<typeof prove>): Promise<string[]> {
  const { results } = await prove(compiled, { ...options, route: 'search' });
  return results.map(({ verdict }) => verdict);
}

test('contracts do not prove that a limit of firings in flight above the cap is never reached', async () => {
  const job = place('job', { environment: true });
  const [bad, done] = [place('bad'), place('done')];
  const compiled = compile(
    net('limit', {
      transitions: [
        effect('work', {
          priority: 5,
          concurrency: 4,
          take: { job },
          give: allOf({ done }),
          failed: () => ({ done: null }),
          run: () => Promise.resolve({ done: null }),
        }),
        pure('overflow', { take: { job }, give: allOf({ bad }), run: () => ({ bad: null }) }),
      ],
    }),
  );
  assert.deepEqual(
    await verdicts(compiled, {
      properties: [unreachable('bad'), atMost(['overflow'], 0)],
      bounds: { environment: { job: 5 }, faults: 0, shutdowns: false },
      components: onlyCore,
    }),
    ['refuted', 'refuted'],
  );
});

test('contracts do not prove that a transition with a weight above the cap never fires', async () => {
  const [p, bad] = [place('p'), place('bad')];
  const compiled = compile(
    net('weight', {
      initial: [initialToken(p, null, 70)],
      transitions: [
        pure('t', { take: { p: many(70, p) }, give: allOf({ bad }), run: () => ({ bad: null }) }),
      ],
    }),
  );
  assert.deepEqual(
    await verdicts(compiled, {
      properties: [unreachable('bad'), deadlockFree(['p'])],
      bounds: { faults: 0, shutdowns: false },
      components: onlyCore,
    }),
    ['refuted', 'refuted'],
  );
});

test('a contract counts every token that a firing adds to a port outside its view', async () => {
  const [x, go, bad, y] = [place('x'), place('go'), place('bad'), place('y')];
  const compiled = compile(
    net('gain', {
      initial: [initialToken(x, null, 5), initialToken(go, null)],
      transitions: [
        pure('c/t', {
          take: { x: many(5, x), go },
          give: allOf({ more: upTo(10, x) }),
          run: () => ({ more: [] }),
        }),
        pure('s1', { take: { x: many(5, x) }, give: allOf({ y }), run: () => ({ y: null }) }),
        pure('s2', { take: { y: many(2, y) }, give: allOf({ bad }), run: () => ({ bad: null }) }),
      ],
    }),
  );
  const components: ComponentTree = {
    ...onlyCore,
    children: [
      {
        name: 'c',
        places: ['go'],
        transitions: ['c/t'],
        children: [],
        contract: {
          initial: 's0',
          events: [{ name: 'e', promisedBy: 'component', on: { gives: ['x'], by: 'component' } }],
          steps: { s0: { e: 's1' }, s1: {} },
        },
      },
    ],
  };
  assert.deepEqual(
    await verdicts(compiled, {
      properties: [unreachable('bad'), unreachable({ x: 7 })],
      bounds: { upTo: 10, faults: 0, shutdowns: false },
      components,
    }),
    ['refuted', 'refuted'],
  );
});

test('contracts do not prove that an initial token without a key causes no fault', async () => {
  const [p, q, bad] = [place('p', string()), place('q', string()), place('bad')];
  const getKey = (token: string): string => {
    if (token === 'boom') throw new Error('no key');
    return token;
  };
  const compiled = compile(
    net('keys', {
      initial: [initialToken(p, 'boom'), initialToken(q, 'ok')],
      transitions: [
        pure('join', {
          take: { p: matching(p, getKey), q: matching(q, getKey) },
          give: allOf({ bad }),
          run: () => ({ bad: null }),
        }),
      ],
    }),
  );
  assert.deepEqual(
    await verdicts(compiled, {
      properties: [unreachable('net.fault'), placeBound('net.fault', 0)],
      bounds: { faults: 0, shutdowns: false },
      components: onlyCore,
    }),
    ['refuted', 'refuted'],
  );
});

test('contracts leave a property that watches an outlet to the search', async () => {
  const [a, b] = [place('a', { environment: true }), place('b')];
  const [done, out] = [place('done'), outlet('out', string())];
  const compiled = compile(
    net('outlet', {
      transitions: [
        pure('t', {
          take: { a },
          give: allOf({ b, out }),
          run: () => ({ b: null, out: '' }),
        }),
        pure('u', { take: { b }, give: allOf({ done }), run: () => ({ done: null }) }),
      ],
    }),
  );
  assert.deepEqual(
    await verdicts(compiled, {
      properties: [neverFiresAfter('u', 'b', { until: 'out' })],
      bounds: { faults: 0, shutdowns: false },
      components: onlyCore,
    }),
    ['refuted'],
  );
});

test('states of contracts are told apart whatever their names', () => {
  const leaf = (own: string, answers: bigint) => ({
    states: [{ shared: '', own, children: [], answers }],
    children: [],
  });
  const combined = combineStates({
    states: [
      { shared: '', own: '', children: ['a,b', 'c'], answers: 1n },
      { shared: '', own: '', children: ['a', 'b,c'], answers: 1n },
    ],
    children: [leaf('a', 1n), leaf('b,c', 1n)],
  });
  assert.deepEqual(combined, [1n]);
});
