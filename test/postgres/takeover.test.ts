import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import type { LogEvent } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import {
  collect,
  commitOk,
  createSession,
  getExisting,
  nextStep,
  summary,
} from '../../src/store/contract/sample-steps.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import type { PostgresStoreOptions } from '../../src/store/postgres/postgres-store-options.ts';
import type { PostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { StoreUnavailableError } from '../../src/store/store-errors.ts';
import type { SessionRow } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import type { CuttingProxy } from './cutting-proxy.ts';
import { startPostgresServer } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';

interface TakeoverContext {
  readonly server: PostgresServer;
  /** Proxies the connections of the owner only. */
  readonly proxy: CuttingProxy;
  readonly owner: PostgresStore;
  readonly peer: PostgresStore;
  readonly row: SessionRow;
  /** Advances the clock of the peer. */
  readonly pass: (ms: number) => void;
}

const query = { owner: 'peer', now: 0, limit: 9 };

describe('PostgreSQL owner failure detection', () => {
  let server: PostgresServer | undefined;
  let schemas = 0;

  before(async () => {
    server = await startPostgresServer({ restartable: true });
  });

  after(async () => {
    await server?.stop();
  });

  const testWithOwner = (
    what: string,
    check: (scene: TakeoverContext) => Promise<void>,
    options: PostgresStoreOptions = {},
  ): void =>
    void it(what, async (t) => {
      if (server === undefined) return t.skip('no PostgreSQL for this platform');
      const schema = `takeover_${process.pid}_${schemas++}`;
      const proxy = await startCuttingProxy(server.url);
      let now = 0;
      const owner = await openPostgresStore(proxy.url, { schema, ...options });
      const peer = await openPostgresStore(server.url, {
        schema,
        now: () => now,
        absenceMs: 5000,
        restartAbsenceMs: 30_000,
      });
      try {
        await owner.join('owner');
        await peer.join('peer');
        const row = await createSession(owner, 'owner');
        await commitOk(owner, [nextStep(row, undefined, { summary: summary({ inFlight: 1 }) })]);
        await check({ server, proxy, owner, peer, row, pass: (ms) => void (now += ms) });
      } finally {
        proxy.judge = () => 'pass';
        proxy.refusing = false;
        await Promise.all([owner.close(), peer.close()]);
        await proxy.stop();
      }
    });

  testWithOwner(
    'after a restart of the server, a live owner keeps its sessions even if its peers reconnect first',
    async ({ server: { restart }, proxy, owner, peer, row, pass }) => {
      if (restart === undefined) return;
      proxy.refusing = true;
      await restart();
      for (let attempt = 0; attempt < 20; attempt++) {
        assert.deepEqual(
          (await retryWhileUnavailable(async () => peer.findRunnable(query))).sessions,
          [],
        );
        assert.deepEqual(await retryWhileUnavailable(async () => peer.claim(row.key, 'peer')), {
          ok: false,
          owned: 'owner',
        });
        pass(1000);
      }
      proxy.refusing = false;
      const next = nextStep({ ...row, head: 1 }, { records: 2, events: 2 });
      assert.deepEqual(await retryWhileUnavailable(async () => owner.commit([next])), [
        { ok: true },
      ]);
      pass(1_000_000);
      assert.deepEqual((await peer.findRunnable(query)).sessions, []);
      assert.equal((await getExisting(peer, row.key)).epoch, row.epoch);
    },
  );

  testWithOwner(
    'an owner that lost its lock writes nothing until it has the lock again, and keeps its session',
    async ({ proxy, owner, peer, row }) => {
      proxy.judge = (bytes) => (bytes.toString('latin1').includes('LISTEN') ? 'cut' : 'pass');
      const next = nextStep({ ...row, head: 1 }, { records: 2, events: 2 });
      for (const one of proxy.connections) if (one.isPresence) one.cut();
      // The owner notices when its connection ends.
      await until(async () =>
        owner.commit([{ ...next, epoch: 0 }]).then(
          () => false,
          (error: unknown) => error instanceof StoreUnavailableError,
        ),
      );
      for (let times = 0; times < 10; times++) {
        await assert.rejects(owner.commit([next]), StoreUnavailableError);
        await assert.rejects(owner.claim(row.key, 'owner'), StoreUnavailableError);
      }
      assert.equal((await getExisting(peer, row.key)).head, 1);
      proxy.judge = () => 'pass';
      assert.deepEqual(await retryWhileUnavailable(async () => owner.commit([next])), [
        { ok: true },
      ]);
    },
  );

  testWithOwner(
    'the session of a dead owner is claimed after the absence time, and a late commit of the owner is rejected',
    async ({ proxy, owner, peer, row, pass }) => {
      proxy.refusing = true;
      proxy.cutAll();
      let claimed = await peer.claim(row.key, 'peer');
      // The server may notice the lost connection with a delay.
      while (!claimed.ok) {
        pass(1000);
        claimed = await peer.claim(row.key, 'peer');
      }
      assert.equal(claimed.recovered, true);
      proxy.refusing = false;
      const lateStep = nextStep({ ...row, head: 1 }, { records: 2, events: 2 });
      assert.deepEqual(await retryWhileUnavailable(async () => owner.commit([lateStep])), [
        { ok: false, refused: 'stale' },
      ]);
    },
  );

  testWithOwner(
    'a connection that does not answer is replaced',
    async ({ proxy, owner, row }) => {
      const silentConnection = [...proxy.connections].find(({ isPresence }) => isPresence);
      proxy.judge = (_, connection) => (connection === silentConnection ? 'swallow' : 'pass');
      assert.ok(silentConnection);
      await until(async () => !proxy.connections.has(silentConnection));
      const next = nextStep({ ...row, head: 1 }, { records: 2, events: 2 });
      assert.deepEqual(await retryWhileUnavailable(async () => owner.commit([next])), [
        { ok: true },
      ]);
    },
    // A healthy connection answers in this time on a busy machine.
    { checkMs: 500 },
  );

  it('a restart of the PostgreSQL server while tools run leaves no unknown outcome', async (t) => {
    if (server?.restart === undefined) return t.skip('no PostgreSQL to restart');
    const schema = `takeover_${process.pid}_${schemas++}`;
    const proxy = await startCuttingProxy(server.url);
    const began = Promise.withResolvers<void>();
    const mayEnd = Promise.withResolvers<void>();
    const ran: string[] = [];
    const createAgents = (who: string) => [
      agent({
        name: 'payer',
        model: new ScriptedModel(({ contents }) =>
          contents.at(-1)?.role === 'tool'
            ? { text: 'Done.' }
            : { toolCalls: [{ name: 'pay' }, { name: 'look' }] },
        ),
        tools: [
          tool({
            name: 'pay',
            description: 'Pays.',
            execute: async () => {
              ran.push(`${who} pays`);
              began.resolve();
              await mayEnd.promise;
              return 'paid';
            },
          }),
          tool({
            name: 'look',
            description: 'Looks.',
            readOnly: true,
            execute: async () => {
              ran.push(`${who} looks`);
              await mayEnd.promise;
              return 'seen';
            },
          }),
        ],
      }),
    ];
    let looks = 0;
    const ownStore = await openPostgresStore(proxy.url, { schema });
    const peerStore = await openPostgresStore(server.url, {
      schema,
      // On a busy machine the scans below take longer than the default.
      restartAbsenceMs: 3_600_000,
      onStatement: (text) => {
        if (text.includes('postmaster')) looks++;
      },
    });
    const owner = await openRuntime({ agents: createAgents('owner'), store: ownStore });
    const peer = await openRuntime({ agents: createAgents('peer'), store: peerStore });
    try {
      const session = await owner.session('x');
      await session.send('Pay.').accepted;
      await began.promise;
      proxy.refusing = true;
      await server.restart();
      // The peer scans several times while the owner is not back.
      const enough = looks + 3;
      await until(async () => looks >= enough);
      mayEnd.resolve();
      proxy.refusing = false;
      let events: readonly LogEvent[] = [];
      await until(async () => {
        events = await retryWhileUnavailable(async () => collect(peerStore.read(session.key)));
        return events.at(-1)?.type === 'turn.ended';
      });
      assert.deepEqual(
        events.flatMap((event) => (event.type === 'tool.result' ? [event.outcome] : [])),
        ['ok', 'ok'],
      );
      assert.deepEqual(ran.toSorted(), ['owner looks', 'owner pays']);
    } finally {
      proxy.refusing = false;
      mayEnd.resolve();
      await Promise.all([owner.close(), peer.close()]);
      await Promise.all([ownStore.close(), peerStore.close()]);
      await proxy.stop();
    }
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await setTimeout(2);
}

/** Retries while the store is unavailable. */
async function retryWhileUnavailable<T>(action: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      await setTimeout(5);
    }
  }
}
