import assert from 'node:assert/strict';
import { InvalidInputError } from '../../core/index.ts';
import { answerKey } from '../rules/dedupe-key.ts';
import { AlreadyAnsweredError, InvalidStepError } from '../store-errors.ts';
import type { InboxInput, SessionRow, SettledStep } from '../store.ts';
import { storeContractCase, type StoreContractCase } from './contract-case.ts';
import {
  commitOk,
  commitOne,
  createSession,
  EMPTY_JOURNAL,
  getExisting,
  nextStep,
  readContent,
} from './sample-steps.ts';

export const acceptedInputCases: readonly StoreContractCase[] = [
  storeContractCase(
    'a step accepts inputs that are in no inbox, under the next numbers',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const row = await createSession(store, 'one');
      await store.inject(row.key, input('a'), 'k1');
      const first = stepAt(row, 1, { inboxUpTo: 1, accepts: ['k2', 'k3'] });
      assert.deepEqual(await commitOne(store, first), { ok: true, inputs: [2, 3] });
      assert.equal((await getExisting(store, row.key)).inboxPending, false);
      assert.deepEqual(await store.inbox(row.key, 0), []);
      assert.deepEqual(
        await Promise.all(['k1', 'k2', 'k3'].map(async (key) => store.findInput(row.key, key))),
        [1, 2, 3],
      );
      const again = await store.inject(row.key, input('again'), 'k3');
      assert.deepEqual(again, { inputSeq: 3, duplicate: true });
      const next = await store.inject(row.key, input('d'), 'k4');
      assert.deepEqual(next, { inputSeq: 4, duplicate: false });
      assert.equal((await store.inbox(row.key, 0)).length, 1);
      const second = stepAt(row, 2, { inboxUpTo: 4, accepts: ['k5'] });
      assert.deepEqual(await commitOne(store, second), { ok: true, inputs: [5] });
    },
  ),

  storeContractCase(
    'a step does not accept inputs before an unread one, or with a key of the session',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const row = await createSession(store, 'one');
      await store.inject(row.key, input('a'), 'k1');
      const refused = { ok: false, refused: 'inputs' };
      const before = await readContent(store, row.key);
      const shared = { reads: {}, writes: { place: 'state', set: { 'app:a': 1 } } };
      const more = { shared, snapshot: { tokens: 1 } };
      const tooEarly = stepAt(row, 1, { ...more, accepts: ['k2'] });
      assert.deepEqual(await commitOne(store, tooEarly), refused);
      const used = stepAt(row, 1, { ...more, inboxUpTo: 1, accepts: ['k2', 'k1'] });
      assert.deepEqual(await commitOne(store, used), refused);
      assert.deepEqual(await readContent(store, row.key), before);
      assert.equal(await store.findInput(row.key, 'k2'), undefined);
      const good = stepAt(row, 1, { inboxUpTo: 1, accepts: ['k2'] });
      assert.deepEqual(await commitOne(store, good), { ok: true, inputs: [2] });
      const repeated = stepAt(row, 2, { inboxUpTo: 2, accepts: ['k2'] });
      assert.deepEqual(await commitOne(store, repeated), refused);
      const other = await createSession(store, 'one', 'other');
      assert.deepEqual(await commitOne(store, stepAt(other, 1, { accepts: ['k2'] })), {
        ok: true,
        inputs: [1],
      });
    },
  ),

  storeContractCase('steps of one commit accept inputs one after the other', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const row = await createSession(store, 'one');
    const other = await createSession(store, 'one', 'other');
    assert.deepEqual(
      await store.commit([
        stepAt(row, 1, { accepts: ['k1'] }),
        stepAt(other, 1, { accepts: ['k1'] }),
        stepAt(row, 2, { inboxUpTo: 1, accepts: ['k2', 'k3'] }),
        stepAt(row, 3, { accepts: ['k2'] }),
        stepAt(row, 3, { inboxUpTo: 3 }),
      ]),
      [
        { ok: true, inputs: [1] },
        { ok: true, inputs: [1] },
        { ok: true, inputs: [2, 3] },
        { ok: false, refused: 'inputs' },
        { ok: true },
      ],
    );
    const receipt = await store.inject(row.key, input('d'), 'k4');
    assert.deepEqual(receipt, { inputSeq: 4, duplicate: false });
  }),

  storeContractCase('an accepted answer is the only one of its call', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const row = await createSession(store, 'one');
    await commitOk(store, [stepAt(row, 1, { accepts: [answerKey('call_1')] })]);
    await assert.rejects(store.inject(row.key, input('no'), answerKey('call_1')), (error) => {
      assert.ok(error instanceof AlreadyAnsweredError, String(error));
      assert.deepEqual([error.callId, error.inputSeq], ['call_1', 1]);
      return true;
    });
  }),

  storeContractCase(
    'when a step and an inbox accept the same keys concurrently, each key gets one number',
    async (harness) => {
      const [one, two] = [await harness.open(), await harness.open()];
      await one.join('one');
      const row = await createSession(one, 'one');
      let steps = 0;
      for (let n = 1; n <= 20; n++) {
        const { key } = row;
        const unread = await one.inbox(key, 0);
        const inboxUpTo = unread.at(-1)?.inputSeq ?? 0;
        const step = stepAt(row, steps + 1, { inboxUpTo, accepts: [`k${n}`] });
        const [result, receipt] = await Promise.all([
          commitOne(one, step),
          two.inject(key, input('x'), `k${n}`),
        ]);
        const isAccepted = result?.ok ?? false;
        if (isAccepted) steps++;
        else assert.deepEqual(result, { ok: false, refused: 'inputs' });
        assert.deepEqual(receipt, { inputSeq: n, duplicate: isAccepted });
      }
      assert.equal((await getExisting(one, row.key)).head, steps);
    },
  ),

  storeContractCase('a key that is repeated or no identity is no input', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const row = await createSession(store, 'one');
    await assert.rejects(store.commit([stepAt(row, 1, { accepts: ['k', 'k'] })]), (error) => {
      assert.ok(error instanceof InvalidStepError, String(error));
      assert.equal(error.field, 'accepts[1]');
      return true;
    });
    await assert.rejects(store.commit([stepAt(row, 1, { accepts: [''] })]), InvalidInputError);
    assert.equal((await getExisting(store, row.key)).head, 0);
  }),
];

function input(value: string): InboxInput {
  return { place: 'session.input', value };
}

/** The step with this number, after steps of two records and two events. */
function stepAt(row: SessionRow, step: number, more: Partial<SettledStep>): SettledStep {
  const before = step - 1;
  const from = step === 1 ? EMPTY_JOURNAL : { records: 2 * before, events: 2 * before };
  return nextStep({ ...row, head: before }, from, more);
}
