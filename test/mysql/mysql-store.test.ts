import { after, before, describe, test } from 'node:test';
import type { StoreHarness } from '../../src/store/contract/contract-case.ts';
import { openMysqlStore } from '../../src/store/mysql/open-mysql-store.ts';
import type { MysqlStore } from '../../src/store/mysql/mysql-store.ts';
import { storeContract } from '../../src/store/contract/store-contract.ts';
import { connectMysql, NO_SERVER, startMysqlServer, type MysqlServer } from './mysql-server.ts';

describe('MysqlStore', () => {
  let server: MysqlServer | undefined;
  // To create the tables takes most of a case, so the next case uses those of the last, without their rows.
  const freePrefixes: string[] = [];
  let prefixes = 0;

  before(async () => {
    server = await startMysqlServer();
  });

  after(async () => {
    await server?.stop();
  });

  for (const { name, check } of storeContract) {
    test(name, async (t) => {
      if (server === undefined) return t.skip(NO_SERVER);
      const { url } = server;
      await check(async () => {
        const prefix = freePrefixes.pop() ?? `contract_${prefixes++}`;
        const harness = makeHarness(url, prefix);
        return {
          ...harness,
          close: async () => {
            await harness.close();
            freePrefixes.push(prefix);
          },
        };
      });
    });
  }
});

function makeHarness(url: string, prefix: string): StoreHarness {
  const stores: MysqlStore[] = [];
  let isFull = false;
  const beforeCommit = (): void => {
    // The error of a server without disk space.
    if (isFull) throw Object.assign(new Error('Disk full'), { errno: 1021, sqlState: 'HY000' });
  };
  return {
    open: async () => {
      // A case with many clients at one row must not end early because the machine is busy.
      const options = { schema: prefix, busyMs: 60_000, pollMs: 5 };
      const store = await openMysqlStore(url, { ...options, failpoints: { beforeCommit } });
      stores.push(store);
      return store;
    },
    fill: () => {
      isFull = true;
      return () => {
        isFull = false;
      };
    },
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
      const client = await connectMysql(url);
      await client.query(DATA_TABLES.map((table) => `DELETE FROM ${prefix}_${table}`).join('; '));
      await client.end();
    },
  };
}

/** The tables with rows of sessions. The others hold the version, the locks and the number of the last commit. */
const DATA_TABLES = [
  'sessions',
  'steps',
  'inbox',
  'input_keys',
  'snapshots',
  'blobs',
  'shared_state',
  'owners',
  'tombstones',
  'documents',
  'pending_calls',
  'usage',
];
