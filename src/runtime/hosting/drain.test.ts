import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { contentText, InvalidInputError } from '../../core/index.ts';
import type { LogEvent, PartialEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../index.ts';

interface Worker {
  readonly agent: Agent;
  readonly began: Promise<void>;
  /** What ran where. */
  readonly runs: readonly string[];
}

/** An agent that calls a tool, then answers with the name of the process that asked its model. */
function createWorker(where: string, execute: (signal: AbortSignal) => Promise<string>): Worker {
  const began = Promise.withResolvers<void>();
  const runs: string[] = [];
  const model = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'tool'
      ? { text: `Done by ${where}.` }
      : { toolCalls: [{ name: 'work' }] },
  );
  const work = tool({
    name: 'work',
    description: 'Works.',
    execute: async (_, { signal }) => {
      runs.push(where);
      began.resolve();
      return execute(signal);
    },
  });
  return { agent: agent({ name: 'worker', model, tools: [work] }), began: began.promise, runs };
}

async function collectTurn(
  events: AsyncIterable<LogEvent | PartialEvent>,
): Promise<readonly LogEvent[]> {
  const collected: LogEvent[] = [];
  for await (const event of events) {
    if (!('seq' in event)) continue;
    collected.push(event);
    if (event.type === 'turn.ended') break;
  }
  return collected;
}

test('a drained runtime lets a running call end, and another runtime continues the turn', async () => {
  const store = new MemoryStore();
  const mayEnd = Promise.withResolvers<string>();
  const one = createWorker('one', async () => mayEnd.promise);
  const two = createWorker('two', async () => 'ran twice');
  await using first = await openRuntime({ agents: [one.agent], store });
  const session = await first.session('x');
  await session.send('Work.').accepted;
  await one.began;
  await using _second = await openRuntime({ agents: [two.agent], store });
  const reading = collectTurn(session.events());
  const drained = first.drain();
  mayEnd.resolve('worked');
  // A reader of the drained runtime follows the session to its next owner.
  const events = await reading;
  await drained;
  assert.deepEqual([one.runs, two.runs], [['one'], []]);
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'tool.result' ? [event.outcome] : [])),
    ['ok'],
  );
  assert.deepEqual(
    events
      .flatMap((event) => (event.type === 'agent.message' ? [contentText(event.content)] : []))
      .at(-1),
    'Done by two.',
  );
  // Messages are accepted for the other runtime.
  assert.equal(await session.ask('Again.'), 'Done by two.');
  assert.deepEqual([one.runs, two.runs], [['one'], ['two']]);
});

test('a call that does not end in time is aborted, and the session is free', async () => {
  const store = new MemoryStore();
  const clock = new SimulatedClock(1_000_000);
  const signals: AbortSignal[] = [];
  const aborted = Promise.withResolvers<void>();
  const one = createWorker('one', async (signal) => {
    signals.push(signal);
    signal.addEventListener('abort', () => aborted.resolve());
    await aborted.promise;
    throw signal.reason;
  });
  await using first = await openRuntime({ agents: [one.agent], store, clock });
  const session = await first.session('x');
  await session.send('Work.').accepted;
  await one.began;
  const drained = first.drain({ timeoutMs: 1000 });
  while (signals[0]?.aborted !== true) {
    clock.advance(1000);
    await new Promise(setImmediate);
  }
  await drained;
  const row = await store.find(session.key);
  assert.deepEqual([row?.owner, row?.inFlight], [null, 0]);
});

test('a drained runtime gives away what waits for a timer, and keeps what waits for a message', async () => {
  const store = new MemoryStore();
  const clock = new SimulatedClock(1_000_000);
  const retrying = agent({
    name: 'retrying',
    model: new ScriptedModel([{ text: 'Hi.', error: { kind: 'overloaded', attempts: 1 } }]),
  });
  const idle = agent({ name: 'idle', model: new ScriptedModel(() => ({ text: 'Hi.' })) });
  await using first = await openRuntime({ agents: [retrying, idle], store, clock });
  const waiting = await first.session('waiting', { agent: 'retrying' });
  await waiting.send('Hi.').accepted;
  // The next attempt is due later.
  while (((await store.find(waiting.key))?.nextDueAt ?? 0) <= clock.now() + 1)
    await new Promise(setImmediate);
  const quiet = await first.session('quiet', { agent: 'idle' });
  await quiet.ask('Hi.');
  await first.drain();
  assert.equal((await store.find(waiting.key))?.owner, null);
  assert.notEqual((await store.find(quiet.key))?.owner, null);
});

test('a drain needs a limit in milliseconds', async () => {
  await using runtime = await openRuntime({
    agents: [agent({ name: 'a', model: new ScriptedModel([]) })],
  });
  for (const timeoutMs of [-1, 0.5, Number.NaN])
    await assert.rejects(runtime.drain({ timeoutMs }), InvalidInputError);
});
