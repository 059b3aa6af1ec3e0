import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import type { SessionKey } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { QueueDispatchers } from './queue-dispatchers.ts';
import { reminder } from './reminder.ts';

const assistant = (): ReturnType<typeof agent> =>
  agent({ name: 'assistant', model: new ScriptedModel(() => ({ text: 'Yes.' })) });

test('a request that the dispatcher lost is found in the store, and equal requests have one id', async () => {
  const store = new MemoryStore();
  const clock = new SimulatedClock(1_000_000);
  const queue = new QueueDispatchers();
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const open = async (): ReturnType<typeof openRuntime> =>
    openRuntime({ agents: [assistant()], store, clock, dispatcher: queue.create(), onError });
  await using first = await open();
  await using _second = await open();
  queue.losesRequests = true;
  const session = await first.session('s');
  const answer = session.send('Hello').text();
  while (errors.length === 0) await setImmediate();
  assert.match(String(errors[0]), /The queue is away/);
  queue.losesRequests = false;
  assert.deepEqual(queue.requests, []);
  clock.advance(15_000);
  assert.equal(await answer, 'Yes.');
  // Both processes found the session, and asked for the same work.
  assert.equal(new Set(queue.requests).size, 1);
});

test('more lost requests than a look at the store finds are found within a few seconds', async () => {
  const store = new MemoryStore();
  const clock = new SimulatedClock(1_000_000);
  const queue = new QueueDispatchers();
  const errors: unknown[] = [];
  queue.losesRequests = true;
  await using runtime = await openRuntime({
    agents: [assistant()],
    store,
    clock,
    dispatcher: queue.create(),
    onError: (error) => void errors.push(error),
  });
  const sessions = await Promise.all(
    Array.from({ length: 600 }, async (_, n) => runtime.session(`s${n}`)),
  );
  for (const session of sessions) await session.send('Hello').accepted;
  while (queue.lost < sessions.length) await setImmediate();
  // While the queue is away, a look at the store asks for one page.
  clock.advance(15_000);
  while (queue.lost < sessions.length + 256) await setImmediate();
  clock.advance(9_000);
  for (let n = 0; n < 50; n++) await setImmediate();
  assert.deepEqual([queue.lost, errors.length], [sessions.length + 256, 1]);
  queue.losesRequests = false;
  clock.advance(6_000);
  const startedAt = clock.now();
  const isDone = async (): Promise<boolean> =>
    (await store.list({ appName: 'petrichor', limit: 1000 })).every(
      ({ inboxPending }) => !inboxPending,
    );
  while (!(await isDone())) {
    for (let n = 0; n < 50; n++) await setImmediate();
    clock.advance(100);
  }
  // Pages with a pause between them, and not as many looks at the store.
  assert.ok(clock.now() - startedAt < 9_000);
});

const toKey = (sessionId: string): SessionKey => ({
  appName: 'petrichor',
  userId: 'default',
  sessionId,
});

for (const [title, afterMs] of [
  ['starts itself', 0],
  ['has a timer from its creation on', 60_000],
] as const)
  test(`a session that ${title} is found when its request was lost with the process that created it`, async () => {
    const store = new MemoryStore();
    const clock = new SimulatedClock(1_000_000);
    const queue = new QueueDispatchers();
    const model = new ScriptedModel([]);
    const timed = agent({ name: 'timed', model, extensions: [reminder(afterMs)] });
    const onError = (): void => {};
    queue.losesRequests = true;
    const first = await openRuntime({
      agents: [timed],
      store,
      clock,
      onError,
      dispatcher: queue.create(),
    });
    await first.session('opened');
    const batch = first.batch();
    await batch.session('batched');
    await batch.submit();
    while (queue.lost < 2) await setImmediate();
    await first.close();
    queue.losesRequests = false;
    queue.losesTimers = true;
    await using _second = await openRuntime({
      agents: [timed],
      store,
      clock,
      onError,
      dispatcher: queue.create(),
    });
    for (const id of ['opened', 'batched']) {
      // Nobody opens the session: a look into the store finds it.
      while ((await store.find(toKey(id)))?.head === 0) {
        clock.advance(1000);
        for (let n = 0; n < 20; n++) await setImmediate();
      }
    }
    // The requests for the timers are lost, too.
    clock.advance(afterMs);
    for (const id of ['opened', 'batched'])
      while ((await store.find(toKey(id)))?.lastSeq === 0) {
        clock.advance(1000);
        for (let n = 0; n < 20; n++) await setImmediate();
      }
  });

test('without a request, no process takes a session', async () => {
  const store = new MemoryStore();
  const clock = new SimulatedClock(1_000_000);
  const queue = new QueueDispatchers();
  queue.losesRequests = true;
  await using runtime = await openRuntime({
    agents: [assistant()],
    store,
    clock,
    dispatcher: queue.create(),
  });
  const session = await runtime.session('s');
  await session.send('Hello').accepted;
  for (let n = 0; n < 50; n++) await setImmediate();
  const row = await store.find(session.key);
  assert.deepEqual([row?.head, row?.inboxPending], [0, true]);
});

test('a session that rests is given up: another process takes it next', async () => {
  const store = new MemoryStore();
  const queue = new QueueDispatchers();
  const owners = new Set<string | null | undefined>();
  const runtimes = [];
  for (let n = 0; n < 2; n++)
    runtimes.push(await openRuntime({ agents: [assistant()], store, dispatcher: queue.create() }));
  const [first, second] = runtimes;
  assert.ok(first !== undefined && second !== undefined);
  const session = await first.session('s');
  for (let n = 0; n < 4; n++) {
    assert.equal(await session.send('Hello').text(), 'Yes.');
    owners.add((await store.find(session.key))?.owner);
  }
  assert.equal(owners.size, 2);
  await first.close();
  await second.close();
});
