import { after, before, describe, test } from 'node:test';
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
});
