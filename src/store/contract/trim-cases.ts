import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { InvalidInputError, type Json } from '../../core/index.ts';
import { emptyMarking, toSnapshot } from '../../net/index.ts';
import { encodeMarking } from '../../net/internal.ts';
import type { Trimmed } from '../../net/index.ts';
import type { JournalTrim, SessionRow, SettledStep } from '../store.ts';
import { storeContractCase, type StoreContractCase } from './contract-case.ts';
import {
  collect,
  commitOk,
  commitSampleSteps,
  createSession,
  EMPTY_JOURNAL,
  fired,
  getExisting,
  nextStep,
  readContent,
  sessionKey,
  toCommittedStep,
  turnStarted,
} from './sample-steps.ts';

const KEY = sessionKey('s');
/** A string that is stored apart from its step. */
const LONG = 10_000;

/** Requirements about journals whose oldest records are removed. */
export const trimCases: readonly StoreContractCase[] = [
  storeContractCase(
    'a trim removes the records up to a step, and nothing else',
    async (harness) => {
      const [store, other] = [await harness.open(), await harness.open()];
      await store.join('one');
      const created = await createSession(store, 'one');
      const first = await store.inject(KEY, { place: 'session.input', value: 'hi' }, 'first');
      const { row, steps, cursor } = await commitSampleSteps(store, created, 70);
      await commitOk(store, [nextStep(row, cursor, { inboxUpTo: first.inputSeq })]);
      const before = await getExisting(store, KEY);
      const events = await collect(store.read(KEY));
      const bytes = await store.countBytes({});
      assert.equal(await store.trim(KEY, createTrim(before, steps, 40)), true);
      assert.deepEqual(await getExisting(store, KEY), before, 'the row is as before');
      assert.ok((await other.countBytes({})) < bytes);
      assert.deepEqual(await collect(other.read(KEY)), events);
      assert.deepEqual(await collect(other.read(KEY, 37)), events.slice(37));
      const read = await collect(other.steps(KEY, 0));
      const expected = steps.map(toCommittedStep).map((step) => {
        if (step.step > 40) return step;
        return { ...step, records: step.step === 40 ? [createBase(steps, 40)] : [] };
      });
      assert.deepEqual(read.slice(0, 70), expected);
      assert.deepEqual(await collect(other.steps(KEY, 39)), read.slice(39));
      const lists = await collect(other.listSteps(KEY, 1));
      assert.deepEqual(
        lists.map(({ step }) => step),
        [40],
        'the base has the items of lists',
      );
      const snapshot = await other.snapshot(KEY);
      assert.deepEqual(snapshot, { step: 40, marking: createSnapshot(steps, 40) });
      assert.equal((await other.inject(KEY, { place: 'x', value: 1 }, 'first')).duplicate, true);
      const next = { records: cursor.records + 2, events: cursor.events + 2 };
      await commitOk(store, [nextStep(before, next)]);
      assert.equal((await collect(store.steps(KEY, 70))).length, 2);
    },
  ),

  storeContractCase('a trimmed journal is trimmed again, further only', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const created = await createSession(store, 'one');
    const { row, steps } = await commitSampleSteps(store, created, 12);
    const [five, eight] = [createTrim(row, steps, 5), createTrim(row, steps, 8)];
    assert.equal(await store.trim(KEY, eight), true);
    const content = await readContent(store, KEY);
    const bytes = await store.countBytes({});
    for (const again of [eight, five]) assert.equal(await store.trim(KEY, again), false);
    assert.deepEqual(await readContent(store, KEY), content);
    assert.equal(await store.countBytes({}), bytes);
    assert.equal(await store.trim(KEY, createTrim(row, steps, 12)), true);
    const kept = await collect(store.steps(KEY, 0));
    assert.deepEqual(
      kept.flatMap(({ records }) => records.map(({ seq }) => seq)),
      [24],
    );
    // A trim in two steps leaves what a trim in one step leaves.
    const left = await store.countBytes({});
    const twin = await createSession(store, 'one', 'twin');
    const { row: twinRow, steps: twinSteps } = await commitSampleSteps(store, twin, 12);
    await store.trim(twin.key, createTrim(twinRow, twinSteps, 12));
    assert.equal(await store.countBytes({}), 2 * left);
  }),

  storeContractCase(
    'a snapshot of a later step stays, and one of an earlier step is replaced',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const created = await createSession(store, 'one');
      const { row, steps, cursor } = await commitSampleSteps(store, created, 6);
      await commitOk(store, [nextStep(row, cursor, { snapshot: { newer: true } })]);
      const now = await getExisting(store, KEY);
      assert.equal(await store.trim(KEY, createTrim(now, steps, 4)), true);
      assert.deepEqual(await store.snapshot(KEY), { step: 7, marking: { newer: true } });
      const seven = nextStep(row, cursor);
      assert.equal(await store.trim(KEY, createTrim(now, [...steps, seven], 7)), true);
      assert.deepEqual((await store.snapshot(KEY))?.marking, { newer: true });
      const { key } = await createSession(store, 'one', 'older');
      const six = await commitSampleSteps(store, await getExisting(store, key), 1);
      await commitOk(store, [nextStep(six.row, six.cursor, { snapshot: { older: true } })]);
      const later = nextStep(await getExisting(store, key), { records: 4, events: 4 });
      await commitOk(store, [later]);
      const trim = createTrim(await getExisting(store, key), [later], 3);
      assert.equal(await store.trim(key, trim), true);
      assert.deepEqual(await store.snapshot(key), { step: 3, marking: trim.snapshot });
    },
  ),

  storeContractCase(
    'a session that is not as expected is not trimmed, and a base of another record is refused',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const created = await createSession(store, 'one');
      const { row, steps } = await commitSampleSteps(store, created, 5);
      const content = await readContent(store, KEY);
      const trim = createTrim(row, steps, 4);
      for (const expected of [
        { uid: row.uid, head: row.head + 1 },
        { uid: `not-${row.uid}`, head: row.head },
      ])
        assert.equal(await store.trim(KEY, { ...trim, expected }), false);
      for (const wrong of [
        { ...trim, step: 1 },
        { ...trim, step: 6 },
        { ...trim, step: 3 },
        { ...trim, base: { ...trim.base, seq: trim.base.seq - 1 } },
      ])
        await assert.rejects(store.trim(KEY, wrong), InvalidInputError);
      assert.deepEqual(await readContent(store, KEY), content);
    },
  ),

  storeContractCase(
    'of two trims and a step at the same time, none leaves a gap',
    async (harness) => {
      const [one, two] = [await harness.open(), await harness.open()];
      await one.join('one');
      for (let round = 0; round < 4; round++) {
        const created = await createSession(one, 'one');
        const { row, steps, cursor } = await commitSampleSteps(one, created, 9);
        const step = nextStep(row, cursor);
        const order =
          [
            [5, 7],
            [7, 5],
            [6, 6],
            [7, 5],
          ][round] ?? [];
        const [isFirst, isSecond] = await Promise.all([
          one.trim(KEY, createTrim(row, steps, order[0] ?? 0)),
          two.trim(KEY, createTrim(row, steps, order[1] ?? 0)),
          round % 2 === 0 ? undefined : commitOk(one, [step]),
        ]);
        const done = order.filter((_, index) => (index === 0 ? isFirst : isSecond));
        if (order[0] === order[1]) assert.equal(done.length, 1, 'one of two equal trims');
        const read = await collect(two.steps(KEY, 0));
        const records = read.flatMap((one) => one.records.map(({ seq }) => seq));
        const begin = Math.max(1, ...done.map((to) => to * 2));
        const last = round % 2 === 0 ? 18 : 20;
        assert.deepEqual(
          records,
          Array.from({ length: last - begin + 1 }, (_, index) => begin + index),
        );
        await one.delete(KEY);
      }
    },
  ),

  storeContractCase(
    'long strings stay as long as anything of the session has them',
    async (harness) => {
      const [store, other] = [await harness.open(), await harness.open()];
      await store.join('one');
      const text = (): string => randomBytes(LONG / 2).toString('hex');
      const [removed, inBase, inEvent] = [text(), text(), text()];
      const [later, unread, elsewhere] = [text(), text(), text()];
      const created = await createSession(store, 'one');
      const second = await createSession(store, 'one', 'other');
      const give = (seq: number, ...values: readonly Json[]): SettledStep['records'][number] => ({
        seq,
        at: 1,
        kind: 'fired',
        t: 'turn.start',
        give: values.map((value) => ['place', value] as const),
      });
      const strings = [removed, inBase, inEvent, later, unread, elsewhere];
      const steps = [
        nextStep(created, EMPTY_JOURNAL, {
          records: [give(1, ...strings)],
          events: [turnStarted(1, 1, inEvent)],
        }),
        nextStep(
          { ...created, head: 1 },
          { records: 1, events: 1 },
          { records: [fired(2, 1)], events: [] },
        ),
        nextStep(
          { ...created, head: 2 },
          { records: 2, events: 1 },
          { records: [give(3, later, inEvent)], events: [] },
        ),
      ];
      await commitOk(store, steps);
      await commitOk(store, [nextStep(second, EMPTY_JOURNAL, { records: [give(1, elsewhere)] })]);
      await store.inject(KEY, { place: 'x', value: unread }, 'unread');
      const trim = createTrim(await getExisting(store, KEY), steps, 2, { held: inBase });
      assert.equal(await store.trim(KEY, trim), true);
      const items = JSON.stringify(await collect(other.exportItems()));
      for (const one of [inBase, inEvent, later, unread, elsewhere])
        assert.ok(items.includes(one), 'a string that is used can be read');
      assert.ok(!items.includes(removed));
      assert.deepEqual((await other.inbox(KEY, 0))[0]?.input.value, unread);
      // An event before the first record has a string that is removed from a record.
      const further = createTrim(await getExisting(store, KEY), steps, 3);
      assert.equal(await store.trim(KEY, further), true);
      const left = JSON.stringify(await collect(other.exportItems({ session: KEY })));
      assert.ok(left.includes(inEvent) && left.includes(unread));
      assert.ok(!left.includes(later) && !left.includes(inBase));
      await store.delete(KEY);
      assert.ok(JSON.stringify(await collect(other.steps(second.key, 0))).includes(elsewhere));
    },
  ),

  storeContractCase('a trimmed session is copied, and continues in the copy', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const created = await createSession(store, 'one');
    const { row, steps, cursor } = await commitSampleSteps(store, created, 40);
    await store.trim(KEY, createTrim(row, steps, 35));
    const items = await collect(store.exportItems({ session: KEY }));
    const content = await collect(store.steps(KEY, 0));
    const bytes = await store.countBytes({});
    await store.delete(KEY);
    await store.importItems(
      (async function* () {
        yield* items;
      })(),
    );
    assert.deepEqual(await collect(store.steps(KEY, 0)), content);
    assert.deepEqual(await collect(store.exportItems({ session: KEY })), items);
    assert.deepEqual(await collect(store.listSteps(KEY, 1)), content.slice(34, 35));
    assert.equal(await store.countBytes({}), bytes);
    await store.claim(KEY, 'one');
    await commitOk(store, [nextStep(await getExisting(store, KEY), cursor)]);
    const now = await getExisting(store, KEY);
    const last = nextStep({ ...now, head: now.head - 1 }, cursor);
    assert.equal(await store.trim(KEY, createTrim(now, [...steps, last], 41)), true);
  }),

  storeContractCase('only a journal without records takes a base', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const created = await createSession(store, 'one');
    const { row, steps } = await commitSampleSteps(store, created, 2);
    const records = [createBase([nextStep(row, { records: 6, events: 0 })], 3)];
    await assert.rejects(store.commit([nextStep(row, { records: 4, events: 4 }, { records })]));
    assert.equal((await collect(store.steps(KEY, 0))).length, steps.length);
  }),
];

/** A base that has the number and time of the last record of a step. */
function createBase(steps: readonly SettledStep[], to: number, held?: Json): Trimmed {
  const last = steps.find(({ step }) => step === to)?.records.at(-1);
  if (last === undefined) throw new Error(`there is no step ${to}`);
  const { seq, at } = last;
  const marking = { ...emptyMarking(), seq, at };
  const lists = new Map([['conversation', { version: 0, items: [1, 2], origins: [1, 2] }]]);
  const maps = new Map(held === undefined ? [] : [['state', { held }]]);
  return { kind: 'trimmed', seq, at, marking: encodeMarking({ ...marking, lists, maps }) };
}

function createSnapshot(steps: readonly SettledStep[], to: number): Json {
  const { seq, at } = createBase(steps, to);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a snapshot is JSON throughout
  return toSnapshot({ ...emptyMarking(), seq, at }) as unknown as Json;
}

function createTrim(
  { uid, head }: SessionRow,
  steps: readonly SettledStep[],
  step: number,
  held?: Json,
): JournalTrim {
  return {
    expected: { uid, head },
    step,
    base: createBase(steps, step, held),
    snapshot: createSnapshot(steps, step),
  };
}
