import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import {
  collect,
  toCommittedStep,
  createSession,
  getExisting,
  nextStep,
} from '../../src/store/contract/sample-steps.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import type { PostgresStoreOptions } from '../../src/store/postgres/postgres-store-options.ts';
import type { PostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { SettledStep } from '../../src/store/index.ts';
import { StoreUnavailableError } from '../../src/store/store-errors.ts';
import { payUnderFaults } from './pay-under-faults.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import type { CuttingProxy, Fate, ProxiedConnection } from './cutting-proxy.ts';
import { startPostgresServer } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';

/** Breaks connections of a proxy at certain points. */
type Sabotage = (proxy: CuttingProxy, breaks: () => void) => void;

/** Gives this fate to every `nth` message that `at` selects. */
const every =
  (
    nth: number,
    fate: Fate,
    at: (text: string, connection: ProxiedConnection) => boolean,
  ): Sabotage =>
  (proxy, breaks) => {
    let count = 0;
    proxy.judge = (bytes, connection) => {
      if (!at(bytes.toString('latin1'), connection) || ++count % nth !== 0) return 'pass';
      breaks();
      return fate;
    };
  };

const isCommit = (text: string): boolean => text.includes('COMMIT\0');

const breakPoints: Readonly<Record<string, Sabotage>> = {
  'before a transaction begins': every(5, 'cut', (text) => text.includes('BEGIN')),
  'when a transaction has begun': every(5, 'lose-reply', (text) => text.includes('BEGIN')),
  'in a transaction': every(
    11,
    'cut',
    (text, { isInTransaction }) => isInTransaction && !isCommit(text),
  ),
  'before COMMIT': every(4, 'cut', isCommit),
  'instead of the reply to COMMIT': every(4, 'lose-reply', isCommit),
  'right after COMMIT': every(4, 'cut-behind', isCommit),
  'of the lock connection and all others at once': (proxy, breaks) => {
    let count = 0;
    proxy.judge = (bytes) => {
      if (!isCommit(bytes.toString('latin1')) || ++count % 5 !== 0) return 'pass';
      breaks();
      proxy.cutAll();
      return 'pass';
    };
  },
  'of the lock connection': (proxy, breaks) => {
    let count = 0;
    proxy.judge = (bytes) => {
      if (isCommit(bytes.toString('latin1')) && ++count % 5 === 0) {
        breaks();
        for (const connection of proxy.connections) if (connection.isPresence) connection.cut();
      }
      return 'pass';
    };
  },
};

describe('a PostgreSQL store whose connections break under load', () => {
  let server: PostgresServer | undefined;
  let schemas = 0;

  before(async () => {
    server = await startPostgresServer();
  });

  after(async () => {
    await server?.stop();
  });

  for (const [point, sabotage] of Object.entries(breakPoints)) {
    // With one connection each break hits the only one, and all calls wait for a new one.
    for (const maxConnections of [1, 4]) {
      it(`${point}, at most ${maxConnections} connections: the process survives, every turn ends, nothing is lost or duplicated`, async (t) => {
        if (server === undefined) return t.skip('no PostgreSQL for this platform');
        const schema = `breaks_${process.pid}_${schemas++}`;
        const proxy = await startCuttingProxy(server.url);
        const store = await openPostgresStore(proxy.url, { schema, maxConnections });
        try {
          const broken = await payUnderFaults(
            store,
            (breaks) => sabotage(proxy, breaks),
            () => {
              proxy.judge = () => 'pass';
            },
          );
          t.diagnostic(`${broken} breaks`);
        } finally {
          proxy.judge = () => 'pass';
          await store.close();
          await proxy.stop();
          await dropSchema(server.url, schema);
        }
      });
    }
  }
});

describe('a PostgreSQL store whose connection breaks', () => {
  let server: PostgresServer | undefined;
  let schemas = 0;

  before(async () => {
    server = await startPostgresServer();
  });

  after(async () => {
    await server?.stop();
  });

  const throughProxy = (
    what: string,
    options: PostgresStoreOptions,
    check: (store: PostgresStore, proxy: CuttingProxy) => Promise<void>,
  ): void =>
    void it(what, async (t) => {
      if (server === undefined) return t.skip('no PostgreSQL for this platform');
      const schema = `break_${process.pid}_${schemas++}`;
      const proxy = await startCuttingProxy(server.url);
      const store = await openPostgresStore(proxy.url, { schema, ...options });
      try {
        await check(store, proxy);
      } finally {
        proxy.judge = () => 'pass';
        proxy.refusing = false;
        await store.close();
        await proxy.stop();
        await dropSchema(server.url, schema);
      }
    });

  throughProxy(
    'while it is idle: the next call uses another connection',
    {},
    async (store, proxy) => {
      await store.join('one');
      const row = await createSession(store, 'one');
      for (let round = 0; round < 3; round++) {
        for (const connection of proxy.connections) if (!connection.isPresence) connection.cut();
        assert.equal((await getExisting(store, row.key)).uid, row.uid);
        const input = { place: 'p', value: round };
        assert.deepEqual(await store.inject(row.key, input, `k${round}`), {
          inputSeq: round + 1,
          duplicate: false,
        });
      }
    },
  );

  for (const fate of ['cut', 'lose-reply'] as const)
    throughProxy(
      `in a COMMIT (${fate}) with an unknown outcome: a repeated commit writes the step once`,
      { busyMs: 0, sleep: async () => setTimeout(1) },
      async (store, proxy) => {
        await store.join('one');
        const rows = [
          await createSession(store, 'one', 'a'),
          await createSession(store, 'one', 'b'),
        ];
        const steps = rows.map((row) => nextStep(row));
        const [first, second] = steps;
        assert.ok(first && second);
        proxy.judge = (bytes, connection) => {
          if (connection.isPresence || !isCommit(bytes.toString('latin1'))) return 'pass';
          proxy.refusing = true;
          return fate;
        };
        await assert.rejects(store.commit(steps), StoreUnavailableError);
        // The server cannot be reached yet.
        await assert.rejects(store.commit([first]), StoreUnavailableError);
        proxy.judge = () => 'pass';
        proxy.refusing = false;
        assert.deepEqual(await commitWhenFree(store, second), [{ ok: true }]);
        assert.deepEqual(await commitWhenFree(store, first), [{ ok: true }]);
        for (const step of steps)
          assert.deepEqual(await collect(store.steps(step.key, 0)), [toCommittedStep(step)]);
      },
    );

  throughProxy(
    'and no other connection is free: the call fails as busy, and a later one succeeds',
    { maxConnections: 1, connectTimeoutMs: 1_000 },
    async (store, proxy) => {
      await store.join('one');
      const row = await createSession(store, 'one');
      const held = Promise.withResolvers<void>();
      proxy.judge = (bytes) => {
        if (bytes.toString('latin1').includes('BEGIN')) held.resolve();
        return bytes.toString('latin1').includes('BEGIN') ? 'swallow' : 'pass';
      };
      const inject = async (): ReturnType<PostgresStore['inject']> =>
        store.inject(row.key, { place: 'p', value: 1 }, 'k');
      // On a busy machine, the new connection may take longer than the timeout.
      const injected = inject().catch(async () => untilAvailable(inject));
      await held.promise;
      await assert.rejects(store.find(row.key), { code: 'store_unavailable', reason: 'busy' });
      proxy.judge = () => 'pass';
      proxy.cutAll();
      assert.deepEqual(await injected, { inputSeq: 1, duplicate: false });
    },
  );
});

/** Commits a step as soon as the server has noticed the lost connection and released its locks. */
async function commitWhenFree(
  store: PostgresStore,
  step: SettledStep,
): Promise<Awaited<ReturnType<PostgresStore['commit']>>> {
  for (;;) {
    try {
      const results = await store.commit([step]);
      if (!results.some((result) => !result.ok && result.refused === 'busy')) return results;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
    }
    await setTimeout(1);
  }
}

/** Calls until the store is available. */
async function untilAvailable<T>(action: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      await setTimeout(1);
    }
  }
}

async function dropSchema(url: string, schema: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await client.end();
}
