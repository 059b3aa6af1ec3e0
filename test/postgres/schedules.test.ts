import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { agent } from '../../src/agents/index.ts';
import { deriveScheduleSessionId } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime } from '../../src/runtime/index.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { startPostgresServer } from './postgres-server.ts';

const DUE = ['09:00', '09:20', '09:40', '10:00'].map((time) => `2026-11-23T${time}:00.000Z`);

async function countMessages(runtime: Runtime): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const { key } of await runtime.sessions()) {
    const session = await runtime.session(key.sessionId);
    let count = 0;
    for await (const event of session.events(0, { follow: false }))
      if (event.type === 'user.message') count++;
    counts[key.sessionId] = count;
  }
  return counts;
}

test('two processes that race for a schedule on one database run each due time once', async (t) => {
  const server = await startPostgresServer();
  if (server === undefined) return t.skip('no PostgreSQL for this platform');
  const clock = new SimulatedClock(Date.parse('2026-11-23T08:59:00Z'));
  const open = async (): Promise<Runtime> =>
    openRuntime({
      agents: [agent({ name: 'writer', model: new ScriptedModel(() => ({ text: 'Done.' })) })],
      store: await openPostgresStore(server.url),
      clock,
    });
  const runtimes = await Promise.all([open(), open()]);
  try {
    const definition = { id: 'report', cron: '*/20 * * * *', message: 'Report' };
    await Promise.all(runtimes.map(async ({ schedules }) => schedules.create(definition)));
    const [{ store, app, schedules }] = runtimes;
    const sessionId = deriveScheduleSessionId('report');
    for (const due of DUE) {
      // Without an owner, both processes try to claim the schedule.
      await store.evict({ appName: app, userId: 'default', sessionId });
      clock.advance(Math.max(0, Date.parse(due) - clock.now()));
      for (;;) {
        const run = (await schedules.history('report')).find(({ id }) => id === due);
        if (run?.status === 'ended') break;
        // The run must begin before it counts as missed, however slow the database is.
        const limit = Date.parse(due) + (run === undefined ? 50_000 : 15 * 60_000);
        const { nextAt } = clock;
        if (nextAt !== undefined && nextAt <= limit)
          clock.advance(Math.max(0, nextAt - clock.now()));
        await setImmediate();
      }
    }
    const expected = DUE.map((due) => [`report-${due.replaceAll(/[-:]|\.000/g, '')}`, 1] as const);
    assert.deepEqual(await countMessages(runtimes[1]), Object.fromEntries(expected));
  } finally {
    for (const { store, close } of runtimes.map((runtime) => ({
      store: runtime.store,
      close: async () => runtime.close(),
    }))) {
      await close();
      await store.close();
    }
    await server.stop();
  }
});
