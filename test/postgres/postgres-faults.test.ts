import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import * as fc from 'fast-check';
import { Client } from 'pg';
import {
  AT,
  collect,
  commitOk,
  toCommittedStep,
  createSession,
  getExisting,
  nextStep,
  sessionKey,
  summary,
} from '../../src/store/contract/sample-steps.ts';
import {
  readEverything,
  operation,
  captureOutcome,
  OWNERS,
  runOperation,
  createUidSequence,
} from '../../src/store/contract/store-operations.ts';
import { MemoryStore } from '../../src/store/memory/memory-store.ts';
import { openStore } from '../../src/store/open/open-store.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import type { PostgresStoreOptions } from '../../src/store/postgres/postgres-store-options.ts';
import type { PostgresStore } from '../../src/store/postgres/postgres-store.ts';
import {
  ForeignDatabaseError,
  StoreUnavailableError,
  StoreVersionError,
} from '../../src/store/store-errors.ts';
import { startPostgresServer } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';

describe('a PostgreSQL store with faults', () => {
  let server: PostgresServer | undefined;
  let admin: Client;
  let schemas = 0;

  before(async () => {
    server = await startPostgresServer();
    if (server === undefined) return;
    admin = new Client({ connectionString: server.url });
    await admin.connect();
  });

  after(async () => {
    if (server === undefined) return;
    await admin.end();
    await server.stop();
  });

  const inSchema = (
    what: string,
    check: (
      url: string,
      open: (options?: PostgresStoreOptions) => Promise<PostgresStore>,
      schema: string,
    ) => Promise<void>,
  ): void =>
    void it(what, async (t) => {
      if (server === undefined) return t.skip('no PostgreSQL for this platform');
      const { url } = server;
      const schema = `faults_${process.pid}_${schemas++}`;
      const stores: PostgresStore[] = [];
      try {
        await check(
          url,
          async (options = {}) => {
            const store = await openPostgresStore(url, { schema, ...options });
            stores.push(store);
            return store;
          },
          schema,
        );
      } finally {
        await Promise.all(stores.map((store) => store.close()));
        await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      }
    });

  /** Breaks every connection except the administrator's. */
  const breakAll = async (): Promise<void> => {
    await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE pid <> pg_backend_pid() AND datname = current_database() AND application_name = 'petrichor'`,
    );
  };

  inSchema('it behaves like a memory store', async (url) => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 25 }), async (operations) => {
        const schema = `same_${process.pid}_${schemas++}`;
        const memory = new MemoryStore({ newUid: createUidSequence() });
        const store = await openPostgresStore(url, { schema, newUid: createUidSequence() });
        try {
          await Promise.all(OWNERS.flatMap((id) => [memory.join(id), store.join(id)]));
          for (const [index, one] of operations.entries()) {
            const expected = await captureOutcome(() => runOperation(memory, one, index));
            const actual = await captureOutcome(() => runOperation(store, one, index));
            assert.deepEqual(actual, expected, JSON.stringify(one));
            assert.deepEqual(await readEverything(store), await readEverything(memory));
          }
        } finally {
          await Promise.all([memory.close(), store.close()]);
          await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
        }
      }),
      { numRuns: 4 },
    );
  });

  inSchema(
    'the sessions of a killed process can be claimed, those of a stopped process cannot',
    async (url, open, schema) => {
      let clockMs = 0;
      const peerStore = await open({ now: () => clockMs });
      await peerStore.join('mine');
      const child = fork(new URL('postgres-owner.ts', import.meta.url), [url, schema], {
        stdio: 'inherit',
      });
      const [message] = await once(child, 'message');
      assert.equal(message, 'owns');
      const key = sessionKey('s');
      assert.deepEqual(await peerStore.claim(key, 'mine'), { ok: false, owned: 'theirs' });
      child.kill('SIGSTOP');
      assert.deepEqual(await peerStore.claim(key, 'mine'), { ok: false, owned: 'theirs' });
      child.kill('SIGKILL');
      await once(child, 'exit');
      // The kernel tells the server soon after. From then on the absence counts.
      let claimed = await peerStore.claim(key, 'mine');
      while (!claimed.ok) {
        clockMs += 1000;
        claimed = await peerStore.claim(key, 'mine');
      }
      assert.deepEqual([claimed.recovered, claimed.row.epoch], [true, 2]);
    },
  );

  inSchema('a store whose connections broke continues, with its owners alive', async (_, open) => {
    const [one, two] = [await open(), await open()];
    await one.join('one');
    await two.join('two');
    const notified = Promise.withResolvers<void>();
    const reconnected = Promise.withResolvers<void>();
    let isBroken = false;
    two.subscribe((changed) => {
      if (isBroken && changed === 'any') reconnected.resolve();
      else notified.resolve();
    });
    const row = await createSession(one, 'one');
    await commitOk(one, [nextStep(row, undefined, { summary: summary({ inFlight: 1 }) })]);
    await notified.promise;
    const keepAlive = setInterval(() => undefined, 1000);
    isBroken = true;
    await breakAll();
    // Notifications may have been missed, so listeners are called when the connection is back.
    await reconnected.promise;
    clearInterval(keepAlive);
    await one.inject(row.key, { place: 'p', value: 2 }, 'l');
    const claimed = await untilAvailable(async () => two.claim(row.key, 'two'));
    assert.deepEqual(claimed, { ok: false, owned: 'one' });
    const next = nextStep({ ...row, head: 1 }, { records: 2, events: 2 });
    assert.deepEqual(await untilAvailable(async () => one.commit([next])), [{ ok: true }]);
  });

  inSchema(
    'after a commit whose reply was lost, the store queries the outcome and writes the step once',
    async (_, open) => {
      let failsAt: 'before' | 'after' | undefined;
      const store = await open({
        maxConnections: 1,
        failpoints: {
          beforeCommit: () => {
            if (failsAt === 'before') throw Object.assign(new Error('gone'), { code: '57P01' });
          },
        },
      });
      await store.join('one');
      const row = await createSession(store, 'one');
      const step = nextStep(row);
      failsAt = 'before';
      await assert.rejects(store.commit([step]), StoreUnavailableError);
      assert.equal((await getExisting(store, row.key)).head, 0);
      failsAt = undefined;
      assert.deepEqual(await store.commit([step]), [{ ok: true }]);
      // The server commits, and its reply is lost.
      const injected = loseReplyTo('COMMIT');
      const second = nextStep({ ...row, head: 1 }, { records: 2, events: 2 });
      try {
        assert.deepEqual(await store.commit([second]), [{ ok: true }]);
        assert.equal(injected.count(), 1);
      } finally {
        injected.restore();
      }
      assert.deepEqual(await collect(store.steps(row.key, 0)), [step, second].map(toCommittedStep));
      // The statement never arrives: the server reports that the transaction was rolled back, and it is retried.
      const injectedDrop = dropBefore('COMMIT');
      const third = nextStep({ ...row, head: 2 }, { records: 4, events: 4 });
      try {
        assert.deepEqual(await store.commit([third]), [{ ok: true }]);
        assert.equal(injectedDrop.count(), 1);
      } finally {
        injectedDrop.restore();
      }
      assert.deepEqual(
        await collect(store.steps(row.key, 0)),
        [step, second, third].map(toCommittedStep),
      );
    },
  );

  inSchema('ten stores that write concurrently lose nothing', async (_, open) => {
    const stores = await Promise.all(
      Array.from({ length: 10 }, async () => open({ maxConnections: 2 })),
    );
    const [first] = stores;
    assert.ok(first !== undefined);
    await Promise.all(stores.map((store, index) => store.join(`o${index}`)));
    await Promise.all(stores.map((store, index) => createSession(store, `o${index}`, `s${index}`)));
    await Promise.all(
      stores.map(async (store, index) => {
        for (let round = 0; round < 10; round++) {
          const row = await getExisting(store, sessionKey(`s${index}`));
          await commitOk(store, [
            nextStep(
              row,
              { records: round * 2, events: round * 2 },
              {
                shared: {
                  reads: {},
                  writes: { place: 'state', increment: { 'app:n': 1, 'user:n': 1 } },
                },
              },
            ),
          ]);
          const other = sessionKey(`s${(index + round) % 10}`);
          await store.inject(other, { place: 'p', value: round }, `${index}/${round}`);
          for (;;) {
            const now = await store.document('k', 'count');
            const value = typeof now?.value === 'number' ? now.value + 1 : 1;
            const change = { kind: 'k', id: 'count', version: now?.version ?? 0, value };
            if ((await store.writeDocuments([change])).ok) break;
          }
        }
      }),
    );
    const { entries } = await first.shared({ appName: 'app', userId: 'ada' });
    assert.deepEqual(entries, { 'app:n': 100, 'user:n': 100 });
    assert.equal((await first.document('k', 'count'))?.value, 100);
    const inboxes = await Promise.all(
      stores.map(async (_store, index) => first.inbox(sessionKey(`s${index}`), 0)),
    );
    assert.equal(inboxes.flat().length, 100);
  });

  inSchema(
    'tables of other programs, and of a newer version, are not changed; those that say so are used',
    async (url, open, schema) => {
      await admin.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.sessions (id text)`);
      await assert.rejects(open(), (error) => {
        assert.ok(error instanceof ForeignDatabaseError);
        assert.match(error.message, /Use another schema/);
        return true;
      });
      await admin.query(`DROP SCHEMA ${schema} CASCADE`);
      await open();
      // Earlier releases wrote no such column.
      await admin.query(`ALTER TABLE ${schema}.petrichor_schema DROP COLUMN compatible_from`);
      await admin.query(`UPDATE ${schema}.petrichor_schema SET version = 99`);
      await assert.rejects(open(), StoreVersionError);
      await admin.query(
        `ALTER TABLE ${schema}.petrichor_schema ADD COLUMN compatible_from integer`,
      );
      await assert.rejects(open(), StoreVersionError);
      await admin.query(`UPDATE ${schema}.petrichor_schema SET compatible_from = 98`);
      await assert.rejects(open(), StoreVersionError);
      await admin.query(`UPDATE ${schema}.petrichor_schema SET compatible_from = 1`);
      await open();
      const { rows } = await admin.query(`SELECT version FROM ${schema}.petrichor_schema`);
      assert.deepEqual(rows, [{ version: 99 }]);
      await assert.rejects(openPostgresStore(url, { schema: 'No; DROP' }), {
        code: 'invalid_input',
      });
    },
  );

  inSchema('a URL with a driver of another toolkit opens the store', async (url, _, schema) => {
    const store = await openStore(url.replace('postgres:', 'postgresql+asyncpg:'), { schema });
    await store.join('one');
    const row = await createSession(store, 'one');
    assert.equal(row.createdAt, AT);
    await store.close();
  });

  it('a missing server is reported as unavailable, without the password', async () => {
    await assert.rejects(openStore('postgres://me:secret@127.0.0.1:1/db'), (error) => {
      assert.ok(error instanceof StoreUnavailableError, String(error));
      assert.equal(error.reason, 'io');
      assert.match(error.message, /127\.0\.0\.1:1\/db cannot be reached/);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  });
});

async function untilAvailable<T>(action: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      // The store reconnects by timers and sockets, which need turns of the event loop.
      await setTimeout(5);
    }
  }
}

interface FaultInjection {
  readonly count: () => number;
  readonly restore: () => void;
}

/** Breaks the connection after the next such statement was executed, before its reply arrives. */
function loseReplyTo(statement: string): FaultInjection {
  return injectFault(statement, async (client, original) => {
    await original();
    await client.end();
    throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
  });
}

/** Breaks the connection before the next such statement is sent. */
function dropBefore(statement: string): FaultInjection {
  return injectFault(statement, async (client) => {
    await client.end();
    throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
  });
}

function injectFault(
  statement: string,
  fault: (client: Client, original: () => Promise<unknown>) => Promise<never>,
): FaultInjection {
  let count = 0;
  const original: unknown = Reflect.get(Client.prototype, 'query');
  assert.ok(typeof original === 'function');
  const query = function (this: Client, ...args: unknown[]): unknown {
    const send = async (): Promise<unknown> => Reflect.apply(original, this, args);
    if (args[0] !== statement || count > 0) return Reflect.apply(original, this, args);
    count++;
    return fault(this, send);
  };
  Reflect.set(Client.prototype, 'query', query);
  return {
    count: () => count,
    restore: () => void Reflect.set(Client.prototype, 'query', original),
  };
}
