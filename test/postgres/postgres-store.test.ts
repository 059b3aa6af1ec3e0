import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client } from 'pg';
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

  test('a vacuum by a user that does not own the tables is refused', async (t) => {
    if (server === undefined) return t.skip('no PostgreSQL for this platform');
    const schema = `vacuum_${process.pid}`;
    const user = `reader_${process.pid}`;
    const owner = await openPostgresStore(server.url, { schema });
    const client = new Client({ connectionString: server.url });
    await client.connect();
    await client.query(`CREATE ROLE ${user} LOGIN PASSWORD 'p';
      GRANT USAGE ON SCHEMA ${schema} TO ${user};
      GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${user}`);
    const { rows } = await client.query<{ version: number }>(
      "SELECT current_setting('server_version_num')::int AS version",
    );
    const maintains = (rows[0]?.version ?? 0) >= 170_000;
    if (maintains)
      await client.query(`REVOKE MAINTAIN ON ALL TABLES IN SCHEMA ${schema} FROM ${user}`);
    const url = server.url.replace(/^postgres(?:ql)?:\/\/[^@]*@/, `postgres://${user}:p@`);
    const other = await openPostgresStore(url, { schema });
    await assert.rejects(other.vacuum(), (error: Error) =>
      error.message.includes(`"${user}" does not own the tables`),
    );
    if (maintains) {
      await client.query(`GRANT MAINTAIN ON ALL TABLES IN SCHEMA ${schema} TO ${user}`);
      await other.vacuum();
    }
    await owner.vacuum();
    await Promise.all([other.close(), owner.close()]);
    await client.query(`DROP SCHEMA ${schema} CASCADE; DROP OWNED BY ${user}; DROP ROLE ${user}`);
    await client.end();
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
