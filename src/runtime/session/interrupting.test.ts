import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { deriveInvocationId, getFunctionCalls, getFunctionResponses } from '../../core/index.ts';
import type { LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import type { Model, ModelRequest } from '../../models/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import type { Tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Session } from './session.ts';
import type { Turn } from './turn.ts';

const hang = (name: string, listens: boolean): Tool =>
  tool({
    name,
    description: 'Never ends by itself.',
    execute: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        if (listens) signal.addEventListener('abort', reject);
      }),
  });

/** Calls every tool in its first answer to a message, then answers with text. */
function caller(tools: readonly Tool[]): { readonly agent: Agent; readonly model: ScriptedModel } {
  const model = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'user' && contents.length === 1
      ? { text: 'Calling.', toolCalls: tools.map(({ name }) => ({ name })) }
      : { text: 'Spoken.' },
  );
  return { model, agent: agent({ name: 'caller', tools, model }) };
}

async function readTurn(turn: Turn): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of turn) if ('seq' in event) events.push(event);
  return events;
}

async function until(session: Session, type: LogEvent['type'], times = 1): Promise<void> {
  let seen = 0;
  for await (const event of session.events()) if (event.type === type && ++seen === times) return;
}

/** Asserts that each call in a prompt has exactly one result, in the next message. */
function assertEveryCallHasResult({ contents }: ModelRequest): void {
  for (const [index, content] of contents.entries()) {
    const calls = getFunctionCalls(content).map(({ id }) => id);
    if (calls.length === 0) continue;
    const answers = getFunctionResponses(
      contents[index + 1] ?? assert.fail('a call without answer'),
    );
    assert.deepEqual(
      answers.map(({ id }) => id),
      calls,
    );
  }
}

test('an interrupt ends a turn at once, even if its tools ignore the signal, and every call has a result', async () => {
  const { agent, model } = caller([hang('deaf', false), hang('listening', true)]);
  await using runtime = await openRuntime({ agents: [agent] });
  const session = await runtime.session('x');
  const turn = session.send('go');
  await until(session, 'tool.call', 2);
  await session.interrupt();
  const log = await readTurn(turn);
  const last = log.at(-1);
  assert.equal(last?.type === 'turn.ended' && last.stopReason, 'interrupted');
  assert.deepEqual(
    log.flatMap((event) => (event.type === 'tool.result' ? [event.outcome] : [])),
    ['cancelled', 'unknown'],
  );
  await readTurn(session.send('and now?'));
  assertEveryCallHasResult(model.requests.at(-1) ?? assert.fail());
  assert.equal(model.requests.at(-1)?.contents.length, 4);
});

test('an interrupt journals how each tool ended, and unknown for one that did not stop and is not repeatable', async () => {
  const waiting = (name: string, more: Partial<Tool>, after: 'finish' | 'ignore'): Tool =>
    tool({
      name,
      description: 'Waits for the end.',
      ...(more.onCrash !== undefined && { onCrash: more.onCrash }),
      execute: (_, { signal }) =>
        new Promise((resolve) => {
          if (after === 'finish') signal.addEventListener('abort', () => resolve('done anyway'));
        }),
    });
  const { agent } = caller([
    waiting('finishes', {}, 'finish'),
    waiting('looks', { onCrash: 'rerun' }, 'ignore'),
    waiting('pays', { onCrash: 'ask' }, 'ignore'),
  ]);
  await using runtime = await openRuntime({ agents: [agent] });
  const session = await runtime.session('x');
  const turn = session.send('go');
  await until(session, 'tool.call', 3);
  await session.interrupt();
  const log = await readTurn(turn);
  assert.deepEqual(
    log
      .flatMap((event) => (event.type === 'tool.result' ? [`${event.name} ${event.outcome}`] : []))
      .toSorted(),
    ['finishes ok', 'looks cancelled', 'pays unknown'],
  );
  assert.deepEqual(await session.pending(), []);
});

test('an interrupt aborts a streaming model, and its answer is dropped', async () => {
  const began = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const speaker: Model = {
    name: 'speaker',
    generate: async (_, { signal, onDelta }) => {
      onDelta({ kind: 'text', text: 'I beg' });
      began.resolve();
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      stopped.resolve();
      return {
        content: { role: 'model', parts: [{ text: 'I beg to differ' }] },
        finishReason: 'stop',
      };
    },
  };
  await using runtime = await openRuntime({ agents: [agent({ name: 'a', model: speaker })] });
  const session = await runtime.session('x');
  const turn = session.send('go');
  await began.promise;
  await session.interrupt();
  const log = await readTurn(turn);
  await stopped.promise;
  assert.deepEqual(
    log.map(({ type }) => type),
    ['user.message', 'turn.started', 'turn.ended'],
  );
});

test('an interrupt of a turn that waits for an approval ends the wait', async () => {
  const { agent, model } = caller([
    tool({ name: 'wipe', description: 'Wipes.', needsApproval: true, execute: () => 'wiped' }),
  ]);
  await using runtime = await openRuntime({ agents: [agent] });
  const session = await runtime.session('x');
  await readTurn(session.send('go'));
  await session.interrupt();
  await until(session, 'turn.ended');
  assert.deepEqual(await session.pending(), []);
  assert.equal((await session.status()).status, 'idle');
  await readTurn(session.send('next'));
  assertEveryCallHasResult(model.requests.at(-1) ?? assert.fail());
});

test('an interrupt without a running turn resolves, and does not affect the next turn', async () => {
  const { agent } = caller([]);
  await using runtime = await openRuntime({ agents: [agent] });
  const session = await runtime.session('x');
  await session.interrupt();
  await until(session, 'turn.ended');
  const log = await readTurn(session.send('go'));
  const last = log.at(-1);
  assert.equal(last?.type === 'turn.ended' && last.stopReason, 'end_turn');
  await session.interrupt();
  await until(session, 'turn.ended', 3);
});

test('an interrupt of one turn never ends the next one', async () => {
  const { agent } = caller([hang('deaf', false)]);
  await using runtime = await openRuntime({ agents: [agent] });
  const session = await runtime.session('x');
  const first = session.send('one');
  const second = session.send('two');
  await until(session, 'tool.call');
  // Twice: when the second one arrives, the turn has ended or is ending.
  await Promise.all([session.interrupt(), session.interrupt()]);
  const ends = [await readTurn(first), await readTurn(second)].map((log) => {
    const end = log.findLast((event) => event.type === 'turn.ended');
    return end?.type === 'turn.ended' && end.stopReason;
  });
  assert.deepEqual(ends, ['interrupted', 'end_turn']);
});

test('an interrupt of a named turn stops that turn only, and does nothing once it has ended', async () => {
  const { agent } = caller([hang('deaf', false)]);
  await using runtime = await openRuntime({ agents: [agent] });
  const session = await runtime.session('x');
  const first = session.send('one', { messageId: 'one' });
  const second = session.send('two', { messageId: 'two' });
  await until(session, 'tool.call');
  const invocationId = deriveInvocationId('one');
  await session.interrupt({ invocationId: deriveInvocationId('two') });
  assert.equal((await session.status()).activity, 'running');
  await session.interrupt({ invocationId });
  await readTurn(first);
  await readTurn(second);
  const { lastSeq } = await session.status();
  await session.interrupt({ invocationId });
  const ends: unknown[] = [];
  for await (const event of session.events(0, { follow: false }))
    if (event.type === 'turn.ended') ends.push(event.stopReason);
  assert.deepEqual(ends, ['interrupted', 'end_turn']);
  assert.equal((await session.status()).lastSeq, lastSeq);
});

test('an interrupt from a runtime that does not host the session ends its turn', async () => {
  const { agent } = caller([hang('deaf', false)]);
  const store = new MemoryStore();
  await using one = await openRuntime({ agents: [agent], store });
  await using two = await openRuntime({ agents: [agent], store });
  const session = await one.session('x');
  const turn = session.send('go');
  await until(session, 'tool.call');
  await (await two.find('x'))?.interrupt();
  const last = (await readTurn(turn)).at(-1);
  assert.equal(last?.type === 'turn.ended' && last.stopReason, 'interrupted');
});

test('a result that arrives after its turn was interrupted changes nothing', async () => {
  const finish = Promise.withResolvers<string>();
  const { agent } = caller([
    tool({ name: 'late', description: 'Is late.', execute: () => finish.promise }),
  ]);
  await using runtime = await openRuntime({ agents: [agent] });
  const session = await runtime.session('x');
  const turn = session.send('go');
  await until(session, 'tool.call');
  await session.interrupt();
  await readTurn(turn);
  const { lastSeq } = await session.status();
  finish.resolve('too late');
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  assert.equal((await session.status()).lastSeq, lastSeq);
  await readTurn(session.send('next'));
});

test('an interrupt directly after a message stops the turn of that message, even before the turn begins', async () => {
  for (const store of ['memory:', 'sqlite::memory:']) {
    const { agent: assistant } = caller([hang('deaf', false)]);
    await using runtime = await openRuntime({ agents: [assistant], store });
    const session = await runtime.session('x');
    const turn = session.send('Call it.');
    await turn.accepted;
    await session.interrupt();
    const ended = (await readTurn(turn)).findLast((event) => event.type === 'turn.ended');
    assert.equal(ended?.stopReason, 'interrupted', store);
    const next = (await readTurn(session.send('And now?'))).at(-1);
    assert.ok(next?.type === 'turn.ended' && next.stopReason === 'end_turn', store);
  }
});

/** Wraps a store with one method replaced. */
function withMethod<K extends 'find' | 'inbox'>(
  store: MemoryStore,
  name: K,
  method: MemoryStore[K],
): MemoryStore {
  return new Proxy(store, {
    get: (target, key) => {
      const property: unknown = key === name ? method : Reflect.get(target, key, target);
      return typeof property === 'function' ? property.bind(target) : property;
    },
  });
}

test('an interrupt finds the turn of a message that another runtime consumes meanwhile', async () => {
  const store = new MemoryStore();
  const readAllowed = Promise.withResolvers<void>();
  const { agent: assistant } = caller([hang('deaf', false)]);
  const slow = withMethod(store, 'inbox', async (...args) => {
    await readAllowed.promise;
    return store.inbox(...args);
  });
  await using first = await openRuntime({ agents: [assistant], store: slow });
  const session = await first.session('x');
  let isFindDelayed = false;
  const late = withMethod(store, 'find', async (key) => {
    const row = await store.find(key);
    if (!isFindDelayed) return row;
    isFindDelayed = false;
    readAllowed.resolve();
    await until(session, 'tool.call');
    return row;
  });
  await using second = await openRuntime({ agents: [assistant], store: late });
  const other = (await second.find('x')) ?? assert.fail();
  const turn = session.send('Call it.');
  await turn.accepted;
  isFindDelayed = true;
  await other.interrupt();
  const ended = (await readTurn(turn)).findLast((event) => event.type === 'turn.ended');
  assert.equal(ended?.stopReason, 'interrupted');
});
