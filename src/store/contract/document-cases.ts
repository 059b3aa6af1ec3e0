import assert from 'node:assert/strict';
import { InvalidInputError } from '../../core/index.ts';
import type { DocumentQuery } from '../documents.ts';
import type { Store } from '../store.ts';
import { storeContractCase, type StoreContractCase } from './contract-case.ts';

export const documentCases: readonly StoreContractCase[] = [
  storeContractCase(
    'a document has the last value, and each write increases its version',
    async (harness) => {
      const store = await harness.open();
      assert.equal(await store.document('agent', 'a'), undefined);
      const written = { kind: 'agent', id: 'a' };
      assert.deepEqual(
        await store.writeDocuments([{ ...written, version: 0, value: { name: 'one' } }]),
        { ok: true },
      );
      await store.writeDocuments([{ ...written, version: 1, value: { name: 'two' } }]);
      const value = { name: 'two' };
      assert.deepEqual(await store.document('agent', 'a'), { ...written, version: 2, value });
      assert.equal(await store.document('other', 'a'), undefined);
    },
  ),

  storeContractCase(
    'a change of another version writes nothing, and neither do the changes with it',
    async (harness) => {
      const store = await harness.open();
      await store.writeDocuments([{ kind: 'k', id: 'a', version: 0, value: 1 }]);
      for (const version of [0, 2]) {
        const changes = [
          { kind: 'k', id: 'b', version: 0, value: 2 },
          { kind: 'k', id: 'a', version, value: 2 },
        ];
        const refused = { ok: false, kind: 'k', id: 'a', version: 1 };
        assert.deepEqual(await store.writeDocuments(changes), refused);
      }
      assert.equal(await store.document('k', 'b'), undefined);
      assert.equal((await store.document('k', 'a'))?.value, 1);
    },
  ),

  storeContractCase('of many concurrent changes of a document, one succeeds', async (harness) => {
    const [one, two] = [await harness.open(), await harness.open()];
    const write = async (store: Store, value: number): ReturnType<Store['writeDocuments']> =>
      store.writeDocuments([{ kind: 'k', id: 'a', version: 0, value }]);
    const results = await Promise.all(
      Array.from({ length: 5 }, (_, n) => [write(one, n), write(two, -n)]).flat(),
    );
    assert.equal(results.filter(({ ok }) => ok).length, 1);
  }),

  storeContractCase('a removed document is gone, and its versions start again', async (harness) => {
    const store = await harness.open();
    await store.writeDocuments([{ kind: 'k', id: 'a', version: 0, value: 1 }]);
    assert.deepEqual(await store.writeDocuments([{ kind: 'k', id: 'a', version: 0 }]), {
      ok: false,
      kind: 'k',
      id: 'a',
      version: 1,
    });
    assert.deepEqual(await store.writeDocuments([{ kind: 'k', id: 'a', version: 1 }]), {
      ok: true,
    });
    assert.equal(await store.document('k', 'a'), undefined);
    await store.writeDocuments([{ kind: 'k', id: 'a', version: 0, value: 2 }]);
    assert.equal((await store.document('k', 'a'))?.version, 1);
  }),

  storeContractCase('documents are listed by id, in pages, in both orders', async (harness) => {
    const store = await harness.open();
    const ids = ['a/1', 'a/2', 'a/3', 'b/1', 'ä'];
    await store.writeDocuments(
      ids.toReversed().map((id) => ({ kind: 'k', id, version: 0, value: id })),
    );
    await store.writeDocuments([{ kind: 'other', id: 'a/9', version: 0, value: 0 }]);
    const listed = async (query: Omit<DocumentQuery, 'kind'>): Promise<readonly string[]> =>
      (await store.documents({ kind: 'k', ...query })).map(({ id }) => id);
    assert.deepEqual(await listed({}), ids);
    assert.deepEqual(await listed({ order: 'descending', limit: 2 }), ['ä', 'b/1']);
    assert.deepEqual(await listed({ order: 'descending', after: 'b/1' }), ['a/3', 'a/2', 'a/1']);
    assert.deepEqual(await listed({ prefix: 'a/', after: 'a/1', limit: 1 }), ['a/2']);
    assert.deepEqual(await listed({ prefix: 'a%' }), []);
    assert.deepEqual(await listed({ after: 'zzz', limit: 1 }), ['ä']);
    assert.deepEqual(await listed({ limit: 0 }), []);
  }),

  storeContractCase('a long document is read back unchanged', async (harness) => {
    const store = await harness.open();
    const value = { text: '☔ and a long one. '.repeat(5000), list: [null, true, 1.5] };
    await store.writeDocuments([{ kind: 'k', id: 'a', version: 0, value }]);
    assert.deepEqual((await store.document('k', 'a'))?.value, value);
  }),

  storeContractCase(
    'a change that names a document twice, or no id, is refused',
    async (harness) => {
      const store = await harness.open();
      const change = { kind: 'k', id: 'a', version: 0, value: 1 };
      await assertRefused(store, [change, change]);
      await assertRefused(store, [{ ...change, id: '' }]);
      await assertRefused(store, [{ ...change, version: -1 }]);
      assert.equal(await store.document('k', 'a'), undefined);
    },
  ),

  storeContractCase(
    'documents survive the process',
    async (harness) => {
      const store = await harness.open();
      await store.writeDocuments([{ kind: 'k', id: 'a', version: 0, value: 'kept' }]);
      await store.close();
      const later = await harness.open();
      assert.equal((await later.document('k', 'a'))?.value, 'kept');
    },
    { durability: 'crash' },
  ),
];

async function assertRefused(
  store: Store,
  changes: Parameters<Store['writeDocuments']>[0],
): Promise<void> {
  await assert.rejects(async () => store.writeDocuments(changes), InvalidInputError);
}
