import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultPlace } from '../language/fault.ts';
import { applyRecord } from './apply-record.ts';
import { encodeMarking } from './encoded-marking.ts';
import type { MarkingChange } from './marking-change.ts';
import { emptyMarking } from './marking.ts';
import type { Marking } from './marking.ts';
import type { JournalRecord } from './record.ts';

const net = { hash: 'h', versions: {} };

/** The records that lead to a marking with tokens in `a`, `b` and `c`, and with firings 2 and 3 of `work` in flight. */
const before: readonly JournalRecord[] = [
  {
    kind: 'injected',
    seq: 1,
    at: 0,
    give: [
      ['a', null, { times: 3 }],
      ['b', null],
      ['c', null],
    ],
    net,
  },
  { kind: 'started', seq: 2, at: 1, t: 'work', take: [['a', '1.0']], timeoutAt: 9 },
  { kind: 'started', seq: 3, at: 1, t: 'work', take: [['a', '1.1']], timeoutAt: 9 },
];

function markingBefore(): Marking {
  const marking = emptyMarking();
  for (const record of before) applyRecord(marking, record);
  return marking;
}

type Kind = JournalRecord['kind'];
type Body<K extends Kind> = Omit<Extract<JournalRecord, { kind: K }>, 'kind' | 'seq' | 'at'>;

interface Expected {
  readonly places?: readonly string[];
  readonly clocked?: readonly string[];
  readonly firings?: readonly string[];
  readonly isUpgrade?: true;
}

/** One case for every kind of record: a new kind does not compile without one. */
const cases: { readonly [K in Kind]: readonly [Body<K>, Expected] } = {
  injected: [
    {
      give: [
        ['a', null],
        ['d', null, { due: { late: 7 }, times: 2 }],
      ],
    },
    { places: ['a', 'd'], clocked: ['d 4.1', 'd 4.2'] },
  ],
  fired: [
    {
      t: 'cancel',
      take: [['b', '1.3']],
      reset: [['c', '1.4']],
      aborted: [2],
      give: [['d', null, { due: { late: 7 } }]],
      lists: [{ place: 'list', append: ['x'] }],
      maps: [{ place: 'map', set: { key: 1 } }],
    },
    { places: ['b', 'c', 'd'], clocked: ['d 4.0'], firings: ['aborted 2'] },
  ],
  started: [
    { t: 'work', take: [['a', '1.2']], reset: [['c', '1.4']], aborted: [3], timeoutAt: 9 },
    { places: ['a', 'c'], firings: ['aborted 3', 'started 4'] },
  ],
  ended: [
    { t: 'work', firing: 2, outcome: 'ok', give: [['b', null]] },
    { places: ['b'], firings: ['ended 2'] },
  ],
  retrying: [{ t: 'work', firing: 2, dueAt: 8, reason: 'busy' }, { firings: ['updated 2'] }],
  restarted: [
    { t: 'work', firing: 2, attempt: 2, cause: 'crash', timeoutAt: 20 },
    { firings: ['updated 2'] },
  ],
  faulted: [
    {
      t: 'work',
      take: [['b', '1.3']],
      firing: 2,
      aborted: [3],
      error: { code: 'error', message: 'no' },
    },
    { places: ['b', faultPlace.name], firings: ['ended 2', 'aborted 3'] },
  ],
  discarded: [{ t: 'work', firing: 2 }, {}],
  upgraded: [
    { from: 'h', to: { hash: 'i', versions: {} }, moved: { b: 'e' }, give: [['d', null]] },
    { places: ['d'], isUpgrade: true },
  ],
  owned: [{ owner: 'o', epoch: 2 }, {}],
  trimmed: [{ marking: { ...encodeMarking(markingBefore()), seq: 4, at: 5 } }, { isUpgrade: true }],
  loaded: [{ place: 'map', entries: { 'user:x': 1 }, versions: { 'user:x': 1 } }, {}],
};

function isKind(kind: string): kind is Kind {
  return kind in cases;
}

function outline({ places, clocked, firings, isUpgrade }: MarkingChange): unknown {
  return {
    places,
    clocked: clocked.map(({ place, token }) => `${place} ${token.id}`),
    firings: firings.map(({ change, firing }) => `${change} ${firing.id}`),
    isUpgrade,
  };
}

for (const kind of Object.keys(cases).filter(isKind)) {
  test(`applying a record of kind ${kind} returns the places, clocks and firings that it changed`, () => {
    const [body, expected] = cases[kind];
    const marking = markingBefore();
    const old = markingBefore();
    const record = { kind, seq: 4, at: 5, ...body } as JournalRecord;
    const change = applyRecord(marking, record);
    assert.deepEqual(outline(change), {
      places: [],
      clocked: [],
      firings: [],
      isUpgrade: false,
      ...expected,
    });
    if (change.isUpgrade) return;
    // What is not in the change is as before.
    for (const place of new Set([...old.tokens.keys(), ...marking.tokens.keys()])) {
      if (change.places.includes(place)) continue;
      assert.deepEqual(marking.tokens.get(place), old.tokens.get(place), place);
    }
    const changed = new Set(change.firings.map(({ firing }) => firing.id));
    for (const id of new Set([...old.firings.keys(), ...marking.firings.keys()])) {
      if (!changed.has(id)) assert.deepEqual(marking.firings.get(id), old.firings.get(id));
    }
    for (const { change: how, firing } of change.firings) {
      const now = marking.firings.get(firing.id);
      assert.equal(now, how === 'started' || how === 'updated' ? firing : undefined);
    }
  });
}

test('a trimmed record replaces the marking that earlier records gave, and nothing follows with its number', () => {
  const base = emptyMarking();
  const injected = { kind: 'injected', seq: 1, at: 0, give: [['z', 1]], net } as const;
  applyRecord(base, injected);
  const marking = { ...encodeMarking(base), seq: 9, at: 7 };
  const trimmed = { kind: 'trimmed', seq: 9, at: 7, marking } as const;
  const reader = markingBefore();
  applyRecord(reader, trimmed);
  assert.deepEqual(encodeMarking(reader), marking);
  assert.throws(() => applyRecord(reader, trimmed), /does not follow record 9/);
  const other = { ...trimmed, seq: 10 };
  assert.throws(() => applyRecord(reader, other), /marking after another record/);
});
