import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { agent } from '../agents/index.ts';
import { interruptIn } from '../agents/internal.ts';
import type { Agent } from '../agents/index.ts';
import type { LogEvent } from '../core/index.ts';
import { ScriptedModel } from '../models/index.ts';
import { SimulatedClock } from '../net/index.ts';
import { MemoryStore } from '../store/index.ts';
import type { InjectReceipt } from '../store/index.ts';
import { tool } from '../tools/index.ts';
import { openRuntime } from './open-runtime.ts';
import type { Session } from './session/session.ts';

const replier = (): Agent =>
  agent({ name: 'replier', model: new ScriptedModel(() => ({ text: 'Done.' })) });

const asker = (): Agent =>
  agent({
    name: 'asker',
    model: new ScriptedModel(({ contents }) =>
      contents.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'pay' }] } : { text: 'Done.' },
    ),
    tools: [
      tool({ name: 'pay', description: 'Pays.', needsApproval: true, execute: () => 'paid' }),
    ],
  });

const answerer = (): Agent =>
  agent({
    name: 'answerer',
    model: new ScriptedModel(({ contents }) =>
      contents.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'ask' }] } : { text: 'Done.' },
    ),
    tools: [tool({ name: 'ask', description: 'Asks a person.' })],
  });

const storeFile = (): string => path.join(mkdtempSync(path.join(tmpdir(), 'close-')), 'test.db');

async function readLog(session: Session): Promise<readonly LogEvent[]> {
  const log: LogEvent[] = [];
  for await (const event of session.events(0, { follow: false }))
    if ('seq' in event) log.push(event);
  return log;
}

/** Reads the log until a turn ends, and returns it. */
async function readUntilEnded(session: Session): Promise<readonly LogEvent[]> {
  for await (const event of session.events()) if (event.type === 'turn.ended') break;
  return readLog(session);
}

const countTypes = (log: readonly LogEvent[], type: LogEvent['type']): number =>
  log.filter((event) => event.type === type).length;

async function openWaiting(runtime: {
  readonly session: (id: string) => Promise<Session>;
}): Promise<{ readonly session: Session; readonly callId: string }> {
  const session = await runtime.session('x');
  for await (const _ of session.send('go'));
  const [call] = await session.pending();
  return { session, callId: call?.id ?? assert.fail() };
}

/** A store whose next `inject` waits for `release`. */
class HeldStore extends MemoryStore {
  readonly reached = Promise.withResolvers<void>();
  readonly release = Promise.withResolvers<void>();
  #isHeld = true;

  override async inject(...args: Parameters<MemoryStore['inject']>): Promise<InjectReceipt> {
    if (this.#isHeld) {
      this.#isHeld = false;
      this.reached.resolve();
      await this.release.promise;
    }
    return super.inject(...args);
  }
}

async function settleTasks(): Promise<void> {
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
}

for (const [name, createStore] of [
  ['memory', () => new MemoryStore()],
  ['SQLite', storeFile],
] as const) {
  test(`${name}: close keeps a message that was sent before it and that nothing awaits`, async () => {
    const store = createStore();
    const runtime = await openRuntime({ agents: [replier()], store });
    const session = await runtime.session('x');
    session.send('one');
    await runtime.close();
    await using next = await openRuntime({ agents: [replier()], store });
    const log = await readUntilEnded((await next.find('x')) ?? assert.fail());
    assert.equal(countTypes(log, 'user.message'), 1);
    assert.equal(countTypes(log, 'agent.message'), 1);
  });

  test(`${name}: close keeps several messages in their order`, async () => {
    const store = createStore();
    const runtime = await openRuntime({ agents: [replier()], store });
    const session = await runtime.session('x');
    const messageIds = ['1', '2', '3'];
    for (const messageId of messageIds) session.send('Hi', { messageId });
    await runtime.close();
    await using next = await openRuntime({ agents: [replier()], store });
    const reopened = (await next.find('x')) ?? assert.fail();
    const sent: string[] = [];
    for await (const event of reopened.events()) {
      if (event.type === 'user.message') sent.push(event.messageId);
      if (event.type === 'turn.ended' && sent.length === 3) break;
    }
    assert.deepEqual(sent, messageIds);
  });

  test(`${name}: close keeps an approval, a denial and an answer that nothing awaits`, async () => {
    for (const [create, submit, outcome] of [
      [asker, (session: Session, id: string) => session.approve(id), 'ok'],
      [asker, (session: Session, id: string) => session.deny(id), 'denied'],
      [answerer, (session: Session, id: string) => session.answer(id, 'yes'), 'ok'],
    ] as const) {
      const store = createStore();
      const runtime = await openRuntime({ agents: [create()], store });
      const { session, callId } = await openWaiting(runtime);
      submit(session, callId);
      await runtime.close();
      await using next = await openRuntime({ agents: [create()], store });
      const log = await readUntilEnded((await next.find('x')) ?? assert.fail());
      const outcomes = log.flatMap((event) =>
        event.type === 'tool.result' ? [event.outcome] : [],
      );
      assert.deepEqual(outcomes, [outcome]);
    }
  });
}

test('close keeps inputs of a batch, and of inject and interrupt', async () => {
  const store = new MemoryStore();
  const runtime = await openRuntime({ agents: [replier()], store });
  const session = await runtime.session('x');
  const batch = runtime.batch();
  const inBatch = await batch.session('y');
  await batch.add(async () => inBatch.send('one').accepted);
  const submitted = [batch.submit(), session.interrupt()];
  await runtime.close();
  assert.deepEqual(
    (await Promise.allSettled(submitted)).map(({ status }) => status),
    ['fulfilled', 'fulfilled'],
  );
});

test('close does not wait for a batch that is never submitted', async () => {
  const runtime = await openRuntime({ agents: [replier()] });
  const batch = runtime.batch();
  const session = await batch.session('x');
  await batch.add(async () => session.send('one').accepted);
  await runtime.close();
  await assert.rejects(batch.submit(), { code: 'runtime_closed' });
  await assert.rejects(session.send('two').accepted, { code: 'runtime_closed' });
});

test('inputs that are sent after close was called are refused with runtime_closed', async () => {
  const runtime = await openRuntime({ agents: [asker()], store: storeFile() });
  const { session, callId } = await openWaiting(runtime);
  const closing = runtime.close();
  const closed = { code: 'runtime_closed' };
  const refuseAll = async (): Promise<void> => {
    await assert.rejects(session.send('one').accepted, closed);
    await assert.rejects(session.approve(callId).accepted, closed);
    await assert.rejects(session.deny(callId).accepted, closed);
    await assert.rejects(session.answer(callId, 'yes').accepted, closed);
    await assert.rejects(session.submitResultEarly(callId, 'yes'), closed);
    await assert.rejects(session.update(callId, 'half'), closed);
    await assert.rejects(session.interrupt(), closed);
    await assert.rejects(
      session.inject(interruptIn, { invocationId: 'x' }, { dedupeKey: '1' }),
      closed,
    );
    await assert.rejects(session.rewind({ beforeInvocationId: 'none' }), closed);
    await assert.rejects(runtime.session('x'), closed);
  };
  await refuseAll();
  await closing;
  await refuseAll();
});

test('a refused message whose turn is not observed becomes a process warning', async () => {
  const runtime = await openRuntime({ agents: [replier()] });
  const session = await runtime.session('x');
  await runtime.close();
  const warned = once(process, 'warning');
  // The first is observed, so the warning is about the second.
  await assert.rejects(session.send('observed').accepted, { code: 'runtime_closed' });
  session.send('not observed');
  const [warning] = await warned;
  assert.equal(warning.code, 'PETRICHOR_INPUT_REFUSED');
  assert.match(warning.message, /session "x" was refused and not stored/);
});

test('close waits for a write in progress, and ends when the write fails', async () => {
  const store = new HeldStore();
  const runtime = await openRuntime({ agents: [replier()], store });
  const session = await runtime.session('x');
  const turn = session.send('one');
  await store.reached.promise;
  let isClosed = false;
  const closing = runtime.close().then(() => (isClosed = true));
  await settleTasks();
  assert.equal(isClosed, false);
  store.release.reject(new Error('The disk is full.'));
  await closing;
  await assert.rejects(turn.accepted, /The disk is full/);
  await using next = await openRuntime({ agents: [replier()], store });
  const reopened = (await next.find('x')) ?? assert.fail();
  assert.deepEqual(await readLog(reopened), []);
});

test('close gives up a write that does not end after 10 s', async () => {
  const clock = new SimulatedClock(1_000);
  const store = new HeldStore();
  const runtime = await openRuntime({ agents: [replier()], store, clock });
  const session = await runtime.session('x');
  const turn = session.send('one');
  await store.reached.promise;
  let isClosed = false;
  const closing = runtime.close().then(() => (isClosed = true));
  await settleTasks();
  clock.advance(9_999);
  await settleTasks();
  assert.equal(isClosed, false);
  clock.advance(1);
  await closing;
  await store.close();
  store.release.resolve();
  await assert.rejects(turn.accepted, { code: 'runtime_closed' });
});

test('an input whose reads end after close gave up is refused and not written', async () => {
  const clock = new SimulatedClock(1_000);
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  let isHeld = false;
  class SlowStore extends MemoryStore {
    override async find(...args: Parameters<MemoryStore['find']>): ReturnType<MemoryStore['find']> {
      if (isHeld) {
        isHeld = false;
        reached.resolve();
        await held.promise;
      }
      return super.find(...args);
    }
  }
  const store = new SlowStore();
  const runtime = await openRuntime({ agents: [asker()], store, clock });
  const { session, callId } = await openWaiting(runtime);
  isHeld = true;
  const turn = session.approve(callId);
  await reached.promise;
  const closing = runtime.close();
  await settleTasks();
  clock.advance(10_000);
  await closing;
  held.resolve();
  await assert.rejects(turn.accepted, { code: 'runtime_closed' });
  assert.deepEqual(await store.inbox(session.key, 0), []);
});
