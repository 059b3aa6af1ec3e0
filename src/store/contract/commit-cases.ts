import assert from 'node:assert/strict';
import { InvalidStepError } from '../store-errors.ts';
import type { SettledStep } from '../store.ts';
import { storeContractCase, type StoreContractCase } from './contract-case.ts';
import {
  AT,
  collect,
  commitOk,
  commitOne,
  commitSampleSteps,
  toCommittedStep,
  readContent,
  createSession,
  fired,
  getExisting,
  nextStep,
  summary,
  turnStarted,
} from './sample-steps.ts';

export const commitCases: readonly StoreContractCase[] = [
  storeContractCase('steps are read back as they were committed, in order', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const { row, steps } = await commitSampleSteps(store, await createSession(store, 'one'), 5);
    assert.deepEqual(await collect(store.steps(row.key, 0)), steps.map(toCommittedStep));
    assert.deepEqual(await collect(store.steps(row.key, 3)), steps.slice(3).map(toCommittedStep));
    assert.deepEqual(await collect(store.steps(row.key, 5)), []);
    assert.deepEqual(
      await collect(store.read(row.key)),
      steps.flatMap(({ events }) => events),
    );
    assert.deepEqual([row.head, row.lastSeq, row.updatedAt], [5, 10, AT + 5]);
  }),

  storeContractCase('a step updates the row of its session', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const row = await createSession(store, 'one');
    const pending = [
      {
        callId: 'c',
        name: 'rm',
        args: {},
        needs: 'approval',
        invocationId: 'e-1',
        fingerprint: 'f',
        since: AT,
        reason: 'crash',
      },
    ] as const;
    const newSummary = {
      status: 'waiting',
      activity: 'waiting',
      inFlight: 2,
      nextDueAt: AT + 7,
      pending,
      netHash: 'net-2',
    } as const;
    await commitOk(store, [
      nextStep(row, undefined, { summary: newSummary, records: [], events: [], at: AT + 3 }),
    ]);
    const after = { ...row, ...newSummary, head: 1, updatedAt: AT + 3 };
    assert.deepEqual(await getExisting(store, row.key), after);
    await commitOk(store, [nextStep(after)]);
    assert.deepEqual((await getExisting(store, row.key)).pending, []);
  }),

  ...refusalCases([
    ['of an earlier epoch', (step) => ({ ...step, epoch: step.epoch - 1 })],
    ['of a runtime that is not the owner', (step) => ({ ...step, owner: 'two' })],
    ['with another uid', (step) => ({ ...step, uid: 'another' })],
    ['that is already committed', (step) => ({ ...step, step: step.step - 1 })],
    ['that skips a number', (step) => ({ ...step, step: step.step + 1 })],
  ]),

  storeContractCase('the same step committed twice at once lands once', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const step = nextStep(await createSession(store, 'one'));
    const results = await Promise.all([store.commit([step]), store.commit([step])]);
    // Either of them may be first.
    assert.deepEqual(
      results.flat().toSorted((one, other) => Number(other.ok) - Number(one.ok)),
      [{ ok: true }, { ok: false, refused: 'stale' }],
    );
    assert.deepEqual(await collect(store.steps(step.key, 0)), [toCommittedStep(step)]);
  }),

  storeContractCase('one stale session of fifty does not harm the others', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const ids = Array.from({ length: 50 }, (_, index) => `s${index}`);
    const rows = await Promise.all(ids.map((id) => createSession(store, 'one', id)));
    const steps = rows.map((row, index) => nextStep(index === 17 ? { ...row, epoch: 0 } : row));
    const results = await store.commit(steps);
    assert.deepEqual(results[17], { ok: false, refused: 'stale' });
    assert.equal(results.filter(({ ok }) => ok).length, 49);
    for (const [index, row] of rows.entries()) {
      assert.equal((await collect(store.read(row.key))).length, index === 17 ? 0 : 2);
    }
  }),

  storeContractCase(
    'a step with wrong numbers throws, and nothing of its commit is written',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const [first, second] = [
        await createSession(store, 'one', 'a'),
        await createSession(store, 'one', 'b'),
      ];
      const good = nextStep(first);
      const wrong: readonly (readonly [Partial<SettledStep>, string])[] = [
        [{ events: [turnStarted(2, AT, 'e-1')] }, 'events[0].seq'],
        [{ events: [turnStarted(1, AT, 'e-1'), turnStarted(3, AT, 'e-1')] }, 'events[1].seq'],
        [{ records: [fired(2, AT)] }, 'records[0].seq'],
        [{ step: 0 }, 'step'],
        [{ inboxUpTo: 0.5 }, 'inboxUpTo'],
        [{ inboxUpTo: 1 }, 'inboxUpTo'],
        [{ summary: summary({ nextDueAt: Number.NaN }) }, 'summary.nextDueAt'],
        [{ shared: { reads: {}, writes: { place: 'p', set: { plain: 1 } } } }, 'shared["plain"]'],
      ];
      for (const [more, field] of wrong) {
        await assert.rejects(store.commit([good, nextStep(second, undefined, more)]), (error) => {
          assert.ok(error instanceof InvalidStepError, String(error));
          assert.equal(error.field, field);
          return true;
        });
      }
      assert.deepEqual(await getExisting(store, first.key), first);
      assert.deepEqual(await getExisting(store, second.key), second);
      await commitOk(store, [good]);
    },
  ),

  storeContractCase('the newest snapshot is kept', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const row = await createSession(store, 'one');
    assert.equal(await store.snapshot(row.key), undefined);
    await commitOk(store, [nextStep(row, undefined, { snapshot: { tokens: [1] } })]);
    const { row: later, cursor } = await commitSampleSteps(
      store,
      await getExisting(store, row.key),
      2,
      {
        records: 2,
        events: 2,
      },
    );
    assert.deepEqual(await store.snapshot(row.key), { step: 1, marking: { tokens: [1] } });
    await commitOk(store, [nextStep(later, cursor, { snapshot: null })]);
    assert.deepEqual(await store.snapshot(row.key), { step: 4, marking: null });
  }),

  storeContractCase(
    'the steps that changed a list are found from any record on',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const row = await createSession(store, 'one');
      const steps: SettledStep[] = [];
      for (let head = 0, records = 0; head < 90; head++) {
        const many = head % 3;
        const made = Array.from({ length: many }, (_, index) =>
          fired(records + index + 1, AT, head % 2 === 0),
        );
        steps.push(nextStep({ ...row, head }, undefined, { records: made, events: [] }));
        records += many;
      }
      await commitOk(store, steps);
      for (let from = 0; from <= 92; from++) {
        const expected = steps.filter(({ records }) =>
          records.some((one) => one.seq >= from && 'lists' in one),
        );
        assert.deepEqual(
          await collect(store.listSteps(row.key, from)),
          expected.map(toCommittedStep),
          `from record ${from}`,
        );
      }
    },
  ),

  storeContractCase('the log can be read after any event, without a gap', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const row = await createSession(store, 'one');
    const steps: SettledStep[] = [];
    for (let head = 0, seq = 0; head < 100; head++) {
      // Steps without events, with one, and with several.
      const events = Array.from({ length: [0, 1, 0, 3][head % 4] ?? 0 }, (_, index) =>
        turnStarted(seq + index + 1, AT + head, `e-${head}`),
      );
      steps.push(nextStep({ ...row, head }, undefined, { records: [], events }));
      seq += events.length;
    }
    await commitOk(store, steps);
    const all = steps.flatMap(({ events }) => events);
    for (let k = 0; k <= all.length + 1; k++) {
      assert.deepEqual(await collect(store.read(row.key, k)), all.slice(k), `after ${k}`);
    }
  }),

  storeContractCase(
    'a reader of a long log gets steps that are committed while it reads',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const { row, steps, cursor } = await commitSampleSteps(
        store,
        await createSession(store, 'one'),
        200,
      );
      const seen: number[] = [];
      for await (const { seq } of store.read(row.key)) {
        if (seq === 1) await commitOk(store, [nextStep(row, cursor)]);
        seen.push(seq);
      }
      assert.deepEqual(
        seen,
        Array.from({ length: 402 }, (_, index) => index + 1),
      );
      assert.deepEqual(
        (await collect(store.steps(row.key, 0))).slice(0, 200),
        steps.map(toCommittedStep),
      );
    },
  ),

  storeContractCase('long texts are read back unchanged, wherever they are', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const row = await createSession(store, 'one');
    const awkward = [
      'x'.repeat(8192),
      'y'.repeat(8193),
      '€'.repeat(2730),
      '€'.repeat(2731),
      `z\0${'z'.repeat(9000)}`,
      `\ud800${'w'.repeat(9000)}`,
      { $blob: 'no hash', $$blob: 1, $$$blob: 'q'.repeat(9000) },
      { $blob: { $blob: 'r'.repeat(9000) }, '&': '&' },
      { ['__proto__']: 'p'.repeat(9000) },
      'y'.repeat(8193),
    ];
    const at = AT + 1;
    const step = nextStep(row, undefined, {
      at,
      records: [
        { seq: 1, at, kind: 'injected', give: awkward.map((value) => ['place', value]) },
        { seq: 2, at, kind: 'injected', give: [['place', { $blob: 'short' }]] },
      ],
      events: [
        {
          seq: 1,
          at,
          type: 'tool.result',
          invocationId: 'e-1',
          author: 'a',
          callId: 'c',
          name: 'n',
          outcome: 'ok',
          response: awkward,
        },
      ],
      snapshot: awkward,
      summary: summary({
        pending: [
          {
            callId: 'c',
            name: 'n',
            args: awkward,
            needs: 'result',
            invocationId: 'e-1',
            fingerprint: 'f',
            since: AT,
          },
        ],
      }),
    });
    await commitOk(store, [step]);
    await store.inject(row.key, { place: 'session.input', value: awkward }, 'message');
    assert.deepEqual(await collect(store.steps(row.key, 0)), [toCommittedStep(step)]);
    assert.deepEqual(await collect(store.read(row.key)), step.events);
    assert.deepEqual(await store.snapshot(row.key), { step: 1, marking: awkward });
    assert.deepEqual((await getExisting(store, row.key)).pending, step.summary.pending);
    assert.deepEqual((await store.inbox(row.key, 0))[0]?.input.value, awkward);
    // A session keeps a text that it shares with a deleted session.
    const other = await createSession(store, 'one', 'other');
    await commitOk(store, [nextStep(other, undefined, { snapshot: awkward })]);
    await store.delete(row.key);
    assert.deepEqual(await store.snapshot(other.key), { step: 1, marking: awkward });
  }),
];

/** One case for each way in which a step is stale. */
function refusalCases(
  ways: readonly (readonly [what: string, change: (step: SettledStep) => SettledStep])[],
): readonly StoreContractCase[] {
  return ways.map(([what, change]) =>
    storeContractCase(`a step ${what} is refused and writes nothing`, async (harness) => {
      const store = await harness.open();
      await store.join('zero');
      await store.join('one');
      await store.join('two');
      const { key } = await createSession(store, 'zero');
      await store.claim(key, 'one');
      const { row, cursor } = await commitSampleSteps(store, await getExisting(store, key), 3);
      await store.inject(key, { place: 'session.input', value: 1 }, 'message');
      const before = await readContent(store, key);
      const step = nextStep(row, cursor, {
        inboxUpTo: 1,
        snapshot: { tokens: 1 },
        summary: summary({ inFlight: 1 }),
        shared: { reads: {}, writes: { place: 'state', set: { 'app:a': 1 } } },
      });
      assert.deepEqual(await commitOne(store, change(step)), { ok: false, refused: 'stale' });
      assert.deepEqual(await readContent(store, key), before);
      assert.deepEqual(await commitOne(store, step), { ok: true });
    }),
  );
}
