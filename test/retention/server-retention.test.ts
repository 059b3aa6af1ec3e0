import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { SimulatedClock } from '../../src/net/index.ts';
import { openManagedRuntime } from '../../src/managed/index.ts';
import { SessionArchive } from '../../src/runtime/index.ts';
import { createServer, Metrics } from '../../src/server/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { FileObjectStore } from '../../src/tools/index.ts';
import { CommandFolder } from '../cli/command-folder.ts';
import { userMessage } from '../managed/managed-fixture.ts';

const DAY = 86_400_000;

test('a server deletes the sessions that its policy no longer keeps, at its start and every hour', async () => {
  const clock = new SimulatedClock(1_700_000_000_000);
  const store = new MemoryStore();
  await using runtime = await openManagedRuntime({
    store,
    clock,
    resolver: async () => new ScriptedModel(() => ({ text: 'Yes.' })),
  });
  const { id: agentId } = await runtime.create({ name: 'old', model: 'gemini-2.5-flash' });
  const start = async (): Promise<string> => {
    const { id } = await runtime.startSession(agentId, { userId: 'default' });
    await runtime.sendEvent(id, userMessage('Hi'));
    for await (const { type } of runtime.streamLog(id, 0)) if (type === 'turn.ended') break;
    return id;
  };
  const first = await start();
  clock.advance(20 * DAY);
  const second = await start();
  clock.advance(15 * DAY);
  // Whenever the pass before ends, the next one is an hour later.
  const gone = async (id: string): Promise<void> => {
    while ((await runtime.listSessions()).data.some((session) => session.id === id)) {
      await setImmediate();
      clock.advance(60_000);
    }
  };
  const server = await createServer({
    runtime,
    store,
    clock,
    keys: 'off',
    retention: { rules: [{ agent: agentId, deleteAfterDays: 30 }] },
  });
  await gone(first);
  assert.equal((await server.fetch(request(first))).status, 404);
  assert.equal((await server.fetch(request(second))).status, 200);
  clock.advance(16 * DAY);
  await gone(second);
  assert.equal((await server.fetch(request(second))).status, 404);
  await server.close();
});

test('a server archives sessions with their record and definition, and an import brings them back', async () => {
  const clock = new SimulatedClock(1_700_000_000_000);
  const store = new MemoryStore();
  const folder = new CommandFolder();
  await using runtime = await openManagedRuntime({
    store,
    clock,
    resolver: async () => new ScriptedModel(() => ({ text: 'Yes.' })),
  });
  const { id: agentId } = await runtime.create({ name: 'old', model: 'gemini-2.5-flash' });
  const { id } = await runtime.startSession(agentId, { userId: 'default' });
  await runtime.sendEvent(id, userMessage('Hi'));
  for await (const { type } of runtime.streamLog(id, 0)) if (type === 'turn.ended') break;
  clock.advance(40 * DAY);
  const archive = new SessionArchive(new FileObjectStore(folder.path), { clock });
  const retention = { rules: [{ archiveAfterDays: 30 }] };
  const server = await createServer({ runtime, store, clock, keys: 'off', retention, archive });
  while ((await runtime.listSessions()).data.length > 0) await setImmediate();
  await server.close();
  const key = { appName: 'managed', userId: 'default', sessionId: id };
  const empty = new MemoryStore();
  await archive.restore(key, empty, { clock });
  await using other = await openManagedRuntime({
    store: empty,
    clock,
    resolver: async () => new ScriptedModel(() => ({ text: 'Yes, again.' })),
  });
  assert.equal((await other.getAgent(agentId)).id, agentId);
  await other.sendEvent(id, userMessage('Again'));
  let turns = 0;
  for await (const { type } of other.streamLog(id, 0))
    if (type === 'turn.ended' && ++turns === 2) break;

  const failure = { runtime, store, keys: 'off' } as const;
  await assert.rejects(createServer({ ...failure, retention }), /archive: is missing/);
  await assert.rejects(createServer({ ...failure, archive }), /archive: needs retention/);
});

test('a read-only server takes no retention policy, and an invalid one is refused', async () => {
  await using runtime = await openManagedRuntime({ store: new MemoryStore() });
  const retention = { rules: [{ deleteAfterDays: 30 }] };
  await assert.rejects(
    createServer({ runtime, keys: 'off', readOnly: true, retention }),
    /retention: cannot be used with readOnly/,
  );
  await assert.rejects(
    createServer({ runtime, keys: 'off', retention: { rules: [{ deleteAfterDays: -1 }] } }),
    /retention\.rules\[0\]\.deleteAfterDays/,
  );
});

function request(id: string): Request {
  return new Request(`http://127.0.0.1/v1/sessions/${id}`);
}

test('a pass that fails for a session is not up to date, until one that does not', async () => {
  const clock = new SimulatedClock(1_700_000_000_000);
  const store = new MemoryStore();
  const metrics = new Metrics(clock);
  await using runtime = await openManagedRuntime({
    store,
    clock,
    resolver: async () => new ScriptedModel(() => ({ text: 'Yes.' })),
  });
  const { id: agentId } = await runtime.create({ name: 'old', model: 'gemini-2.5-flash' });
  const { id } = await runtime.startSession(agentId, { userId: 'default' });
  await runtime.sendEvent(id, userMessage('Hi'));
  for await (const { type } of runtime.streamLog(id, 0)) if (type === 'turn.ended') break;
  clock.advance(40 * DAY);
  const startedAt = clock.now() / 1000;
  const remove = store.delete.bind(store);
  store.delete = async () => {
    throw new Error('The disk is full.');
  };
  const read = async (name: string): Promise<number> => {
    const lines = (await metrics.text(store)).split('\n');
    return Number(
      lines
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')
        .at(-1),
    );
  };
  const errors: unknown[] = [];
  const server = await createServer({
    runtime,
    store,
    clock,
    metrics,
    keys: 'off',
    retention: { rules: [{ deleteAfterDays: 30 }] },
    onError: (error) => void errors.push(error),
  });
  while (errors.length === 0) await setImmediate();
  store.delete = remove;
  assert.equal(await read('petrichor_retention_sessions_total{outcome="failed"}'), 1);
  assert.equal(await read('petrichor_retention_timestamp_seconds'), startedAt);
  while ((await read('petrichor_retention_timestamp_seconds')) === startedAt) {
    await setImmediate();
    clock.advance(60_000);
  }
  assert.equal(await read('petrichor_retention_sessions_total{outcome="deleted"}'), 1);
  await server.close();
});
