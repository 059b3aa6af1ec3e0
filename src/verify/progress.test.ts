import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allOf, compile, initialToken, net, oneOf, place, pure } from '../net/index.ts';
import { atMostOnce, placeBound, unreachable } from './properties/create-property.ts';
import { prove } from './prove.ts';
import type { ProofProgress } from './progress.ts';
import type { PropertyResult } from './report.ts';
import type { Solver } from './smt/solver.ts';

const start = place('start');
const one = place('one');
const other = place('other');
const never = place('never');

/** A net with more states than any search visits in the time of this test: two places that grow without end. */
const growing = compile(
  net('growing', {
    initial: [initialToken(start, null)],
    transitions: [
      pure('grow', {
        take: { start },
        give: oneOf({ left: allOf({ start, one }), right: allOf({ start, other }) }),
        run: () => ({ left: { start: null, one: null } }),
      }),
      pure('spend', { take: { never }, give: allOf({ never }), run: () => ({ never: null }) }),
    ],
  }),
);
const endless = {
  states: 1e9,
  memoryBytes: 1e12,
  searchTimeoutMs: 1e9,
  shutdowns: false,
  faults: 0,
};

const noSolver: Solver = {
  name: 'none',
  ask: async () => {
    throw new Error('a proof that was canceled asks no solver');
  },
};

test('an aborted proof keeps what it knows, and the open properties are unknown', async () => {
  const controller = new AbortController();
  const known = unreachable('one');
  const results: PropertyResult[] = [];
  const progress: ProofProgress[] = [];
  const report = await prove(growing, {
    properties: [atMostOnce('spend'), known],
    bounds: endless,
    reductions: { slicing: false },
    solver: noSolver,
    signal: controller.signal,
    onResult: (result) => results.push(result),
    onProgress: (seen) => {
      progress.push(seen);
      // On a busy machine the first pause can come before the refutation.
      if (results.length > 0) controller.abort();
    },
  });
  assert.deepEqual(
    report.results.map(({ verdict, reason }) => [verdict, reason]),
    [
      ['unknown', 'canceled'],
      ['refuted', undefined],
    ],
  );
  // The refutation came before the search of the other property paused.
  assert.deepEqual(
    results.map(({ property }) => property),
    [known, report.results[0]?.property],
  );
  assert.deepEqual(progress.at(-1)?.properties, [report.results[0]?.property]);
  assert.ok((progress.at(-1)?.states ?? 0) > 1);
});

test('other work of the process runs during a search', async () => {
  const controller = new AbortController();
  setImmediate(() => controller.abort());
  const { results } = await prove(growing, {
    properties: [atMostOnce('spend')],
    bounds: endless,
    reductions: { slicing: false },
    solver: noSolver,
    signal: controller.signal,
  });
  assert.deepEqual(
    results.map(({ reason }) => reason),
    ['canceled'],
  );
});

test('a signal that is aborted before the proof leaves every property open', async () => {
  const { results } = await prove(growing, {
    properties: [unreachable('one'), atMostOnce('spend')],
    bounds: endless,
    signal: AbortSignal.abort(),
  });
  assert.deepEqual(
    results.map(({ verdict, reason, over }) => [verdict, reason, over]),
    results.map(() => ['unknown', 'canceled', ['<= 0 faults', 'no shutdown']]),
  );
});

test('failFast ends the proof after the first refutation', async () => {
  const properties = [unreachable('one'), atMostOnce('grow'), atMostOnce('spend')];
  const reported: string[] = [];
  const report = await prove(growing, {
    properties,
    bounds: endless,
    reductions: { slicing: false },
    failFast: true,
    onResult: ({ verdict }) => reported.push(verdict),
  });
  assert.deepEqual(reported, ['refuted', 'unknown', 'unknown']);
  assert.deepEqual(
    report.results.map(({ verdict, reason }) => [verdict, reason]),
    [
      ['refuted', undefined],
      ['unknown', 'not checked, because another property was refuted'],
      ['unknown', 'not checked, because another property was refuted'],
    ],
  );
});

test('without failFast every property is decided', async () => {
  const report = await prove(growing, {
    properties: [unreachable('one'), atMostOnce('grow'), placeBound('start', 0)],
    bounds: endless,
  });
  assert.deepEqual(
    report.results.map(({ verdict }) => verdict),
    ['refuted', 'refuted', 'refuted'],
  );
});

test('an abort kills the solver', async () => {
  const controller = new AbortController();
  const asked: (AbortSignal | undefined)[] = [];
  const solver: Solver = {
    name: 'slow',
    ask: async (_text, limits) => {
      asked.push(limits?.signal);
      controller.abort();
      return { answer: 'unknown', by: 'slow', reason: 'canceled' };
    },
  };
  const { results } = await prove(growing, {
    properties: [atMostOnce('spend'), placeBound('never', 0)],
    route: 'solver',
    solver,
    signal: controller.signal,
  });
  assert.deepEqual(asked, [controller.signal]);
  assert.deepEqual(
    results.map(({ reason }) => reason),
    ['canceled', 'canceled'],
  );
});
