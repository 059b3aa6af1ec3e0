import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { StoreItem } from '../../src/store/index.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { storeContract } from '../../src/store/contract/store-contract.ts';
import { startPostgresServer } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';
import { makeHarness } from './store-harness.ts';

describe('PostgresStore', () => {
  let server: PostgresServer | undefined;
  // To create the tables takes most of a case, so the next case uses those of the last, without their rows.
  const freeSchemas: string[] = [];
  let schemas = 0;

  before(async () => {
    server = await startPostgresServer();
  });

  after(async () => {
    await server?.stop();
  });

  for (const { name, check } of storeContract) {
    test(name, async (t) => {
      if (server === undefined) return t.skip('no PostgreSQL for this platform');
      const { url } = server;
      await check(async () => {
        const schema = freeSchemas.pop() ?? `contract_${process.pid}_${schemas++}`;
        const harness = await makeHarness(url, schema);
        return {
          ...harness,
          close: async () => {
            await harness.close();
            freeSchemas.push(schema);
          },
        };
      });
    });
  }

  test('an import stops soon after an item that the server refuses', async (t) => {
    if (server === undefined) return t.skip('no PostgreSQL for this platform');
    const store = await openPostgresStore(server.url, { schema: `refused_${process.pid}` });
    let read = 0;
    const documents = async function* (): AsyncGenerator<StoreItem> {
      // The server has the first document when it gets the second.
      for (; read < 1000; read++)
        yield { type: 'document', kind: 'k', id: `d${Math.max(1, read)}`, version: 1, value: null };
    };
    await assert.rejects(store.importItems(documents(), { isWholeStore: true }), {
      code: 'store_failed',
    });
    assert.ok(read < 200, `${read} items were read`);
    assert.equal(await store.document('k', 'd1'), undefined);
    await store.close();
  });
});
