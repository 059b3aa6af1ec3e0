import assert from 'node:assert/strict';
import { InvalidInputError } from '../../core/index.ts';
import { answerKey } from '../rules/dedupe-key.ts';
import { AlreadyAnsweredError, SessionNotFoundError } from '../store-errors.ts';
import type { InboxInput, SessionInput, StoreListener } from '../store.ts';
import { storeContractCase, type StoreContractCase } from './contract-case.ts';
import {
  AT,
  readContent,
  createSession,
  getExisting,
  NET_HASH,
  sessionKey,
} from './sample-steps.ts';

export const submissionCases: readonly StoreContractCase[] = [
  storeContractCase(
    'documents, a new session and inputs of several sessions are written together',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const row = await createSession(store, 'one');
      const received: unknown[] = [];
      const listener: StoreListener = (changed) => received.push(changed);
      store.subscribe(listener);
      const fresh = sessionKey('fresh');
      const init = { agent: 'assistant', owner: 'one', at: AT, netHash: NET_HASH };
      const result = await store.submit({
        documents: [{ kind: 'note', id: 'a', version: 0, value: { n: 1 } }],
        sessions: [
          { key: fresh, init },
          { key: row.key, init: { ...init, agent: 'other' } },
        ],
        inputs: [one(row.key, 'a', 'k1'), one(fresh, 'b', 'k1'), one(row.key, 'c', 'k2')],
      });
      assert.deepEqual(result, {
        ok: true,
        receipts: [
          { inputSeq: 1, duplicate: false },
          { inputSeq: 1, duplicate: false },
          { inputSeq: 2, duplicate: false },
        ],
      });
      assert.deepEqual((await store.document('note', 'a'))?.value, { n: 1 });
      assert.equal((await getExisting(store, fresh)).owner, 'one');
      assert.equal((await getExisting(store, row.key)).agent, 'assistant', 'one that exists stays');
      assert.deepEqual(
        (await store.inbox(row.key, 0)).map(({ input, key }) => [input, key]),
        [
          [input('a'), 'k1'],
          [input('c'), 'k2'],
        ],
      );
      assert.deepEqual(received, [[row.key, fresh]]);
    },
  ),

  storeContractCase(
    'an input with a used dedupe key adds nothing, and the others are added',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const { key } = await createSession(store, 'one');
      await store.inject(key, input('a'), 'k1');
      const inputs = [one(key, 'x', 'k1'), one(key, 'b', 'k2'), one(key, 'y', 'k2')];
      assert.deepEqual(await store.submit({ inputs }), {
        ok: true,
        receipts: [
          { inputSeq: 1, duplicate: true },
          { inputSeq: 2, duplicate: false },
          { inputSeq: 2, duplicate: true },
        ],
      });
      assert.deepEqual(
        (await store.inbox(key, 0)).map((row) => row.input.value),
        ['a', 'b'],
      );
    },
  ),

  storeContractCase(
    'a submission that cannot be written as a whole writes nothing',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const { key } = await createSession(store, 'one');
      await store.inject(key, input('yes'), answerKey('call'));
      await store.writeDocuments([{ kind: 'note', id: 'old', version: 0, value: 1 }]);
      const before = await readContent(store, key);
      const fresh = sessionKey('fresh');
      const init = { agent: 'assistant', owner: 'one', at: AT, netHash: NET_HASH };
      const good = one(key, 'a', 'k1');
      const documents = [{ kind: 'note', id: 'new', version: 0, value: 1 }];
      const sessions = [{ key: fresh, init }];
      const unchanged = async (): Promise<void> => {
        assert.deepEqual(await readContent(store, key), before);
        assert.equal(await store.document('note', 'new'), undefined);
        assert.equal(await store.find(fresh), undefined);
      };
      await assert.rejects(
        store.submit({ documents, sessions, inputs: [good, one(key, 'no', answerKey('call'))] }),
        AlreadyAnsweredError,
      );
      await unchanged();
      await assert.rejects(
        store.submit({
          documents,
          sessions,
          inputs: [good, one(key, 'a', answerKey('b')), one(key, 'b', answerKey('b'))],
        }),
        AlreadyAnsweredError,
        'two of one submission',
      );
      await unchanged();
      await assert.rejects(
        store.submit({ documents, sessions, inputs: [good, one(sessionKey('none'), 'a', 'k')] }),
        SessionNotFoundError,
      );
      await unchanged();
      await assert.rejects(
        store.submit({ documents, sessions, inputs: [good, one(key, 'a', '')] }),
        InvalidInputError,
      );
      await unchanged();
      await assert.rejects(
        store.submit({
          documents,
          sessions: [{ key: fresh, init: { ...init, owner: 'nobody' } }],
          inputs: [good],
        }),
        InvalidInputError,
      );
      await unchanged();
      assert.deepEqual(
        await store.submit({
          documents: [...documents, { kind: 'note', id: 'old', version: 0, value: 2 }],
          sessions,
          inputs: [good],
        }),
        { ok: false, kind: 'note', id: 'old', version: 1 },
      );
      await unchanged();
    },
  ),

  storeContractCase('of two equal concurrent submissions, one is written', async (harness) => {
    const [first, second] = [await harness.open(), await harness.open()];
    await first.join('one');
    const { key } = await createSession(first, 'one');
    const submission = {
      documents: [{ kind: 'note', id: 'a', version: 0, value: 1 }],
      inputs: [one(key, 'a', 'k1')],
    };
    const results = await Promise.all([first.submit(submission), second.submit(submission)]);
    assert.deepEqual(results.filter(({ ok }) => ok).length, 1);
    assert.equal((await first.inbox(key, 0)).length, 1);
  }),
];

function input(value: string): InboxInput {
  return { place: 'session.input', value };
}

function one(key: SessionInput['key'], value: string, dedupeKey: string): SessionInput {
  return { key, input: input(value), dedupeKey };
}
