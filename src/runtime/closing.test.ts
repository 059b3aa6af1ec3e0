import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../agents/index.ts';
import type { Agent } from '../agents/index.ts';
import type { LogEvent } from '../core/index.ts';
import { ScriptedModel } from '../models/index.ts';
import { SimulatedClock } from '../net/index.ts';
import { MemoryStore } from '../store/index.ts';
import { tool } from '../tools/index.ts';
import type { Tool } from '../tools/index.ts';
import { openRuntime } from './open-runtime.ts';
import { RuntimeClosedError } from './session/runtime-errors.ts';
import type { Session } from './session/session.ts';

const caller = (tools: readonly Tool[], more = {}): Agent =>
  agent({
    name: 'caller',
    tools,
    model: new ScriptedModel(({ contents }) =>
      contents.at(-1)?.role === 'user'
        ? { toolCalls: tools.map(({ name }) => ({ name })) }
        : { text: 'Done.' },
    ),
    ...more,
  });

async function readLog(session: Session): Promise<readonly LogEvent[]> {
  const log: LogEvent[] = [];
  for await (const event of session.events(0, { follow: false }))
    if ('seq' in event) log.push(event);
  return log;
}

async function ended(session: Session, times = 1): Promise<void> {
  let seen = 0;
  for await (const event of session.events()) {
    if (event.type === 'turn.ended' && ++seen === times) return;
  }
}

const listOutcomes = (log: readonly LogEvent[]): readonly string[] =>
  log.flatMap((event) => (event.type === 'tool.result' ? [event.outcome] : []));

test('after a clean close no outcome is unknown: repeatable tools run again, the others were cancelled', async () => {
  const store = new MemoryStore();
  const starts: string[] = [];
  const began = Promise.withResolvers<void>();
  const createTool = (name: string, onCrash: 'rerun' | 'unknown'): Tool =>
    tool({
      name,
      description: 'Waits, the first time.',
      onCrash,
      execute: (_, { signal }) => {
        starts.push(name);
        if (starts.length > 2) return 'done';
        if (starts.length === 2) began.resolve();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', reject));
      },
    });
  const both = caller([createTool('again', 'rerun'), createTool('once', 'unknown')]);
  const first = await openRuntime({ agents: [both], store });
  (await first.session('x')).send('go');
  await began.promise;
  await first.close();
  await using second = await openRuntime({ agents: [both], store });
  const session = (await second.find('x')) ?? assert.fail();
  await ended(session);
  assert.deepEqual(listOutcomes(await readLog(session)).toSorted(), ['cancelled', 'ok']);
  assert.deepEqual(starts, ['again', 'once', 'again']);
});

test('close waits five seconds for a tool that ignores the signal; then its outcome is unknown', async () => {
  const clock = new SimulatedClock(1_000);
  const store = new MemoryStore();
  const began = Promise.withResolvers<void>();
  const unresponsive = tool({
    name: 'deaf',
    description: 'Does not listen.',
    execute: () => {
      began.resolve();
      return new Promise(() => {});
    },
  });
  const runtime = await openRuntime({ agents: [caller([unresponsive])], store, clock });
  const session = await runtime.session('x');
  session.send('go');
  await began.promise;
  let closed = false;
  const closing = runtime.close().then(() => (closed = true));
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  assert.equal(closed, false);
  clock.advance(4_999);
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  assert.equal(closed, false);
  clock.advance(1);
  await closing;
  await using next = await openRuntime({ agents: [caller([unresponsive])], store, clock });
  const again = (await next.find('x')) ?? assert.fail();
  await ended(again);
  assert.deepEqual(listOutcomes(await readLog(again)), ['unknown']);
});

test('a tool with onCrash ask that ignores the shutdown needs an approval', async () => {
  const clock = new SimulatedClock(1_000);
  const store = new MemoryStore();
  const began = Promise.withResolvers<void>();
  const runs: number[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays, ignoring the signal.',
    onCrash: 'ask',
    execute: (_, { attempt }) => {
      runs.push(attempt);
      began.resolve();
      return new Promise(() => {});
    },
  });
  const runtime = await openRuntime({ agents: [caller([pay])], store, clock });
  (await runtime.session('x')).send('go');
  await began.promise;
  const closing = runtime.close();
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  clock.advance(5_000);
  await closing;
  await using next = await openRuntime({ agents: [caller([pay])], store, clock });
  const session = (await next.find('x')) ?? assert.fail();
  const [waiting] = await session.pending();
  assert.equal(waiting?.reason, 'crash');
  await session.deny(waiting.id, { message: 'It was paid.' }).accepted;
  await ended(session);
  assert.deepEqual(listOutcomes(await readLog(session)), ['unknown']);
  assert.deepEqual(runs, [1]);
});

test('a tool that ends while the runtime closes keeps its result', async () => {
  const store = new MemoryStore();
  const began = Promise.withResolvers<void>();
  const polite = tool({
    name: 'polite',
    description: 'Finishes its work.',
    execute: async (_, { signal }) => {
      began.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return 'finished anyway';
    },
  });
  const runtime = await openRuntime({ agents: [caller([polite])], store });
  (await runtime.session('x')).send('go');
  await began.promise;
  await runtime.close();
  await using next = await openRuntime({ agents: [caller([polite])], store });
  const session = (await next.find('x')) ?? assert.fail();
  await ended(session);
  assert.deepEqual(listOutcomes(await readLog(session)), ['ok']);
});

test('calls that had not begun when the runtime closed run under the next runtime', async () => {
  const store = new MemoryStore();
  const executedCalls: string[] = [];
  const began = Promise.withResolvers<void>();
  const step = (name: string): Tool =>
    tool({
      name,
      description: 'One at a time.',
      execute: async (_, { signal }) => {
        executedCalls.push(name);
        if (executedCalls.length > 1) return name;
        began.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return name;
      },
    });
  const single = caller([step('a'), step('b'), step('c')], { toolConcurrency: 1 });
  const runtime = await openRuntime({ agents: [single], store });
  (await runtime.session('x')).send('go');
  await began.promise;
  await runtime.close();
  assert.deepEqual(executedCalls, ['a']);
  await using next = await openRuntime({ agents: [single], store });
  // The session is not opened: a deferred start is enough for a claim.
  const session = (await next.find('x')) ?? assert.fail();
  await ended(session);
  assert.deepEqual(executedCalls, ['a', 'b', 'c']);
  assert.deepEqual(listOutcomes(await readLog(session)), ['ok', 'ok', 'ok']);
});

test('a message whose turn had not begun when the runtime closed is answered by the next runtime', async () => {
  const store = new MemoryStore();
  const runtime = await openRuntime({ agents: [caller([])], store });
  const session = await runtime.session('x');
  await session.send('one').accepted;
  await session.send('two').accepted;
  await runtime.close();
  await using next = await openRuntime({ agents: [caller([])], store });
  await ended((await next.find('x')) ?? assert.fail(), 2);
});

test('a closed runtime refuses changes with RuntimeClosedError', async () => {
  const runtime = await openRuntime({ agents: [caller([])] });
  const session = await runtime.session('x');
  await runtime.close();
  await runtime.close();
  const closed = { code: /closed/ };
  await assert.rejects(runtime.session('x'), closed);
  await assert.rejects(runtime.find('x'), closed);
  await assert.rejects(session.send('hello').accepted, closed);
  await assert.rejects(session.interrupt(), { code: /closed/ });
});

test('a closed session is released, and another runtime continues it', async () => {
  const store = new MemoryStore();
  const starts: string[] = [];
  const began = Promise.withResolvers<void>();
  const again = tool({
    name: 'again',
    description: 'Waits, the first time.',
    onCrash: 'rerun',
    execute: (_, { signal }) => {
      starts.push('again');
      if (starts.length > 1) return 'done';
      began.resolve();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', reject));
    },
  });
  await using one = await openRuntime({ agents: [caller([again])], store });
  await using two = await openRuntime({ agents: [caller([again])], store });
  const session = await one.session('x');
  session.send('go');
  await began.promise;
  await session.close();
  const sessionElsewhere = await two.session('x');
  await ended(sessionElsewhere);
  assert.equal(starts.length, 2);
  assert.deepEqual(listOutcomes(await readLog(sessionElsewhere)), ['ok']);
});

test('a session that was closed while idle continues with its next message', async () => {
  await using runtime = await openRuntime({ agents: [caller([])] });
  const session = await runtime.session('x');
  for await (const _ of session.send('one'));
  await session.close();
  await session.close();
  for await (const _ of session.send('two'));
  await ended(session, 2);
});

test('closing the runtime leaves a store open that was passed open', async () => {
  const store = new MemoryStore();
  const runtime = await openRuntime({ agents: [caller([])], store });
  await runtime.session('x');
  await runtime.close();
  assert.equal((await store.list({})).length, 1);
});

test('a session of a closed runtime says that the runtime is closed, whoever owns the store', async () => {
  for (const store of ['memory:', new MemoryStore()]) {
    const runtime = await openRuntime({ agents: [caller([])], store });
    const session = await runtime.session('x');
    await runtime.close();
    await assert.rejects(session.status(), RuntimeClosedError);
    await assert.rejects(session.pending(), RuntimeClosedError);
    await assert.rejects(session.ask('Hi'), RuntimeClosedError);
    assert.throws(() => session.events(), RuntimeClosedError);
  }
});
