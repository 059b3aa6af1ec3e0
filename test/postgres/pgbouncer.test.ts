import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { InvalidInputError } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { storeContract } from '../../src/store/contract/store-contract.ts';
import { openStore } from '../../src/store/index.ts';
import { pickSample } from '../sample-seed.ts';
import { startPgBouncer, type PgBouncer } from './pgbouncer.ts';
import {
  createOtherDatabase,
  startPostgresServer,
  type PostgresServer,
} from './postgres-server.ts';
import { makeHarness } from './store-harness.ts';

/** The tests in `test/long/` run all cases. */
const SHARE = 10;

describe('a store behind PgBouncer in transaction mode', () => {
  let server: PostgresServer | undefined;
  let pooler: PgBouncer | undefined;
  let schemas = 0;

  before(async () => {
    server = await startPostgresServer();
    pooler = server && (await startPgBouncer(server.url));
  });

  after(async () => {
    await pooler?.stop();
    await server?.stop();
  });

  const itPooled = (
    name: string,
    check: (
      urls: { readonly direct: string; readonly pooled: string; readonly schema: string },
      t: TestContext,
    ) => Promise<void>,
  ): void =>
    void it(name, async (t) => {
      if (server === undefined) return t.skip('no PostgreSQL for this platform');
      if (pooler === undefined) return t.skip('PgBouncer is not installed');
      const schema = `pooled_${process.pid}_${schemas++}`;
      await check({ direct: server.url, pooled: pooler.url, schema }, t);
    });

  for (const { name, check } of storeContract.filter(
    (one) => pickSample(SHARE, `pooled ${one.name}`) === 0,
  ))
    itPooled(name, async ({ direct, pooled, schema }) => {
      // A case may open two stores.
      let stores = 0;
      await check(async () => makeHarness(pooled, `${schema}_${stores++}`, { listenUrl: direct }));
    });

  itPooled('two runtimes see the messages of each other', async ({ direct, pooled, schema }) => {
    const stores = await Promise.all(
      [0, 1].map(async () => openStore(pooled, { schema, listenUrl: direct })),
    );
    const model = new ScriptedModel(() => ({ text: 'Hello.' }));
    const runtimes = await Promise.all(
      stores.map(async (store) =>
        openRuntime({ agents: [agent({ name: 'greeter', model })], store }),
      ),
    );
    try {
      const [one, other] = runtimes;
      const session = await one?.session('x');
      assert.equal(await session?.ask('Hi.'), 'Hello.');
      const there = await other?.session('x');
      const reading = (async () => {
        for await (const event of there?.events() ?? [])
          if (event.type === 'user.message' && event.seq > 3) return event.seq;
        return undefined;
      })();
      assert.equal(await session?.ask('Again.'), 'Hello.');
      assert.ok((await reading) !== undefined);
    } finally {
      await Promise.all(runtimes.map(async (runtime) => runtime.close()));
      await Promise.all(stores.map(async (store) => store.close()));
    }
  });

  itPooled('without listenUrl, the store names the setting to make', async ({ pooled, schema }) => {
    await assert.rejects(openStore(pooled, { schema }), (error) => {
      assert.ok(error instanceof InvalidInputError);
      assert.match(error.message, /listenUrl.*is missing.*pooler/);
      return true;
    });
  });

  itPooled('a listenUrl of another database is refused', async ({ direct, pooled, schema }) => {
    const other = await createOtherDatabase(direct);
    try {
      await assert.rejects(openStore(pooled, { schema, listenUrl: other.url }), (error) => {
        assert.ok(error instanceof InvalidInputError);
        assert.match(error.message, /listenUrl.*another database/);
        return true;
      });
    } finally {
      await other.stop();
    }
  });
});
