import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import {
  collect,
  commitOk,
  createSession,
  getExisting,
  nextStep,
  summary,
  toCommittedStep,
} from '../../src/store/contract/sample-steps.ts';
import type { SettledStep } from '../../src/store/index.ts';
import type { MysqlStoreOptions } from '../../src/store/mysql/mysql-store-options.ts';
import type { MysqlStore } from '../../src/store/mysql/mysql-store.ts';
import { openMysqlStore } from '../../src/store/mysql/open-mysql-store.ts';
import { StoreUnavailableError } from '../../src/store/store-errors.ts';
import type { CuttingProxy, Fate } from '../postgres/cutting-proxy.ts';
import { pickSample } from '../sample-seed.ts';
import { payUnderFaults } from '../postgres/pay-under-faults.ts';
import { isCommit, startMysqlProxy } from './mysql-proxy.ts';
import { NO_SERVER, startMysqlServer, type MysqlServer } from './mysql-server.ts';

/** Breaks connections of a proxy at certain points. */
type Sabotage = (proxy: CuttingProxy, onBreak: () => void) => void;

const every =
  (nth: number, fate: Fate, isHere: (bytes: Buffer) => boolean): Sabotage =>
  (proxy, onBreak) => {
    let count = 0;
    proxy.judge = (bytes) => {
      if (!isHere(bytes) || ++count % nth !== 0) return 'pass';
      onBreak();
      return fate;
    };
  };

const isBegin = (bytes: Buffer): boolean => bytes.includes('START TRANSACTION');

const breakPoints: Readonly<Record<string, Sabotage>> = {
  'before a transaction begins': every(5, 'cut', isBegin),
  'when a transaction has begun': every(5, 'lose-reply', isBegin),
  'before COMMIT': every(4, 'cut', isCommit),
  'instead of the reply to COMMIT': every(4, 'lose-reply', isCommit),
  'right after COMMIT': every(4, 'cut-behind', isCommit),
  'of the lock connection and all others at once': (proxy, onBreak) => {
    let count = 0;
    proxy.judge = (bytes) => {
      if (!isCommit(bytes) || ++count % 5 !== 0) return 'pass';
      onBreak();
      proxy.cutAll();
      return 'pass';
    };
  },
};

describe('a MySQL store whose connections break', () => {
  let server: MysqlServer | undefined;
  let prefixes = 0;

  before(async () => {
    server = await startMysqlServer({ restartable: true });
  });

  after(async () => {
    await server?.stop();
  });

  const throughProxy = (
    what: string,
    options: MysqlStoreOptions,
    check: (
      store: MysqlStore,
      proxy: CuttingProxy,
      context: { readonly server: MysqlServer; readonly schema: string },
    ) => Promise<void>,
  ): void =>
    void it(what, async (t) => {
      if (server === undefined) return t.skip(NO_SERVER);
      const schema = `breaks_${prefixes++}`;
      const proxy = await startMysqlProxy(server.url);
      const store = await openMysqlStore(proxy.url, { schema, pollMs: 10, ...options });
      try {
        await check(store, proxy, { server, schema });
      } finally {
        proxy.judge = () => 'pass';
        proxy.refusing = false;
        await store.close();
        await proxy.stop();
      }
    });

  for (const [point, sabotage] of Object.entries(breakPoints)) {
    // With one connection each break hits the only one, and all calls wait for a new one.
    const maxConnections = [1, 4][pickSample(2, `connections ${point}`)] ?? 1;
    throughProxy(
      `${point}, at most ${maxConnections} connections: every turn ends, nothing is lost or duplicated`,
      { maxConnections },
      async (store, proxy) => {
        await payUnderFaults(
          store,
          (onFault) => sabotage(proxy, onFault),
          () => {
            proxy.judge = () => 'pass';
          },
        );
      },
    );
  }

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
          if (connection.isPresence || !isCommit(bytes)) return 'pass';
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

  throughProxy(
    'a lock connection that does not answer is replaced, and the owner commits again',
    // A healthy connection answers in this time on a busy machine.
    { checkMs: 500 },
    async (store, proxy) => {
      await store.join('one');
      const row = await createSession(store, 'one');
      const silent = [...proxy.connections].find(({ isPresence }) => isPresence);
      assert.ok(silent);
      proxy.judge = (_, connection) => (connection === silent ? 'swallow' : 'pass');
      await until(async () => !proxy.connections.has(silent));
      assert.deepEqual(await commitWhenFree(store, nextStep(row)), [{ ok: true }]);
    },
  );

  throughProxy(
    'by a kill of the server: a live owner keeps its sessions even if its peers reconnect first, and a dead one loses them',
    {},
    async (owner, proxy, { server: { url, restart }, schema }) => {
      if (restart === undefined) return;
      let clockMs = 0;
      const peer = await openMysqlStore(url, { schema, now: () => clockMs });
      try {
        await owner.join('owner');
        await peer.join('peer');
        const row = await createSession(owner, 'owner');
        await commitOk(owner, [nextStep(row, undefined, { summary: summary({ inFlight: 1 }) })]);
        proxy.refusing = true;
        await restart();
        const query = { owner: 'peer', now: 0, limit: 9 };
        for (let attempt = 0; attempt < 20; attempt++) {
          const found = await untilAvailable(async () => peer.findRunnable(query));
          assert.deepEqual(found.sessions, []);
          assert.deepEqual(await untilAvailable(async () => peer.claim(row.key, 'peer')), {
            ok: false,
            owned: 'owner',
          });
          clockMs += 1000;
        }
        proxy.refusing = false;
        const next = nextStep(
          { ...row, head: 1 },
          { records: 2, events: 2 },
          { summary: summary({ inFlight: 1 }) },
        );
        assert.deepEqual(await commitWhenFree(owner, next), [{ ok: true }]);
        clockMs += 1_000_000;
        assert.deepEqual((await peer.findRunnable(query)).sessions, []);
        // Now the owner is gone.
        proxy.refusing = true;
        proxy.cutAll();
        let claimed = await peer.claim(row.key, 'peer');
        while (!claimed.ok) {
          clockMs += 1000;
          claimed = await peer.claim(row.key, 'peer');
        }
        assert.equal(claimed.recovered, true);
        proxy.refusing = false;
        const late = nextStep({ ...row, head: 2 }, { records: 4, events: 4 });
        assert.deepEqual(await commitWhenFree(owner, late), [{ ok: false, refused: 'stale' }]);
      } finally {
        await peer.close();
      }
    },
  );
});

/** Commits a step as soon as the server has noticed the lost connection and released its locks. */
async function commitWhenFree(
  store: MysqlStore,
  step: SettledStep,
): Promise<Awaited<ReturnType<MysqlStore['commit']>>> {
  for (;;) {
    const results = await untilAvailable(async () => store.commit([step]));
    if (!results.some((result) => !result.ok && result.refused === 'busy')) return results;
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
      await setTimeout(5);
    }
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await setTimeout(2);
}
