import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as breath } from 'node:timers/promises';
import { agent, sequential } from '../../src/agents/index.ts';
import { contentText } from '../../src/core/index.ts';
import type { LogEvent, LogEventByType } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { Model, ScriptedTurn } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Session } from '../../src/runtime/index.ts';
import { tool } from '../../src/tools/index.ts';

function model(name: string, turn: () => ScriptedTurn): ScriptedModel {
  return new ScriptedModel(turn, { name });
}

function assistant(models: readonly Model[], attempts = 1): ReturnType<typeof agent> {
  const [first] = models;
  assert.ok(first);
  return agent({
    name: 'assistant',
    model: first,
    fallbackModels: models.slice(1),
    modelAttempts: attempts,
  });
}

async function send(session: Session, text: string): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of session.send(text)) if ('seq' in event) events.push(event);
  return events;
}

function findAnswer(events: readonly LogEvent[]): string | undefined {
  const message = events.find((event) => event.type === 'agent.message');
  return message && contentText(message.content);
}

function listAttempts(events: readonly LogEvent[]): readonly LogEventByType<'model.attempt'>[] {
  return events.filter((event) => event.type === 'model.attempt');
}

const failingTurn = (): ScriptedTurn => ({ error: { kind: 'overloaded', message: 'busy' } });

test('the first healthy model answers, and the log contains the errors of the failed models', async () => {
  const [one, two] = [model('one', failingTurn), model('two', failingTurn)];
  const three = model('three', () => ({ text: 'I answer.' }));
  await using runtime = await openRuntime({ agents: [assistant([one, two, three])] });
  const events = await send(await runtime.session('s'), 'Hello');
  assert.equal(findAnswer(events), 'I answer.');
  assert.deepEqual(
    listAttempts(events).map(({ attempt, error }) => [attempt, error]),
    [
      [2, { code: 'model_overloaded', message: 'Model "one": busy Asking "two" instead.' }],
      [3, { code: 'model_overloaded', message: 'Model "two": busy Asking "three" instead.' }],
    ],
  );
  assert.deepEqual(
    [one, two, three].map(({ requests }) => requests.length),
    [1, 1, 1],
  );
});

test('a failed model is skipped for a minute and then called again', async () => {
  const clock = new SimulatedClock(1_000_000);
  let isDown = true;
  const one = model('one', () => (isDown ? failingTurn() : { text: 'Back.' }));
  const two = model('two', () => ({ text: 'Instead.' }));
  await using runtime = await openRuntime({ agents: [assistant([one, two])], clock });
  const session = await runtime.session('s');
  assert.equal(findAnswer(await send(session, 'a')), 'Instead.');
  isDown = false;
  const second = await send(session, 'b');
  assert.deepEqual([findAnswer(second), listAttempts(second)], ['Instead.', []]);
  clock.advance(59_000);
  assert.equal(findAnswer(await send(session, 'c')), 'Instead.');
  clock.advance(1_000);
  // Enabled transitions fire before timed ones, so a message at that moment would still find the
  // model down.
  while ((await session.status()).nextDueAt !== null) await breath();
  assert.equal(findAnswer(await send(session, 'd')), 'Back.');
});

test('a model is retried modelAttempts times before the next model is called', async () => {
  const clock = new SimulatedClock(1_000_000);
  const one = model('one', () => ({ error: { kind: 'rate_limit', retryAfterMs: 500 } }));
  const two = model('two', () => ({ text: 'Instead.' }));
  await using runtime = await openRuntime({ agents: [assistant([one, two], 2)], clock });
  const session = await runtime.session('s');
  const sending = send(session, 'a');
  while (one.requests.length < 2) {
    clock.advance(500);
    await breath();
  }
  assert.equal(findAnswer(await sending), 'Instead.');
  assert.equal(one.requests.length, 2);
});

test('a fallback is used at once when a model requests a long wait', async () => {
  const busy = (): ScriptedTurn => ({ error: { kind: 'rate_limit', retryAfterMs: 600_000 } });
  const one = model('one', busy);
  const two = model('two', () => ({ text: 'Instead.' }));
  await using runtime = await openRuntime({ agents: [assistant([one, two], 4)] });
  const events = await send(await runtime.session('s'), 'a');
  assert.equal(findAnswer(events), 'Instead.');
  assert.equal(one.requests.length, 1);
  const [attempt] = listAttempts(events);
  assert.equal(attempt?.error?.code, 'model_rate_limit');
});

test('the last model is retried after the wait that it requests', async () => {
  const clock = new SimulatedClock(1_000_000);
  let isBusy = true;
  const one = model('one', failingTurn);
  const two = model('two', () =>
    isBusy ? { error: { kind: 'rate_limit', retryAfterMs: 600_000 } } : { text: 'At last.' },
  );
  await using runtime = await openRuntime({ agents: [assistant([one, two], 2)], clock });
  const session = await runtime.session('s');
  const sending = send(session, 'a');
  while (two.requests.length < 1) {
    clock.advance(1000);
    await breath();
  }
  isBusy = false;
  while (two.requests.length < 2) {
    clock.advance(60_000);
    await breath();
  }
  assert.equal(findAnswer(await sending), 'At last.');
});

test('when all models fail the turn ends with the error of the last one', async () => {
  const models = [model('one', failingTurn), model('two', () => ({ error: { kind: 'auth' } }))];
  await using runtime = await openRuntime({ agents: [assistant(models)] });
  const session = await runtime.session('s');
  const events = await send(session, 'a');
  const error = events.find((event) => event.type === 'error');
  const ended = events.find((event) => event.type === 'turn.ended');
  assert.deepEqual([error?.code, ended?.stopReason], ['model_auth', 'error']);
  // The session continues, and a later turn tries again.
  assert.equal((await send(session, 'b')).at(-1)?.type, 'turn.ended');
});

test('an interrupt stops the running model call, and the session continues', async () => {
  let isSlow = true;
  const two = model('two', () => ({ text: 'Done.', ...(isSlow && { delayMs: 600_000 }) }));
  await using runtime = await openRuntime({
    agents: [assistant([model('one', failingTurn), two])],
  });
  const session = await runtime.session('s');
  const ends: unknown[] = [];
  for await (const event of session.send('a')) {
    if (event.type === 'model.attempt') await session.interrupt();
    if (event.type === 'turn.ended') ends.push(event.stopReason);
  }
  assert.deepEqual(ends, ['interrupted']);
  isSlow = false;
  assert.equal(findAnswer(await send(session, 'b')), 'Done.');
});

test('the unavailability of a model survives a restart', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-fallback-'));
  const store = `sqlite:${join(folder, 'a.db')}`;
  const two = model('two', () => ({ text: 'Instead.' }));
  try {
    {
      await using runtime = await openRuntime({
        agents: [assistant([model('one', failingTurn), two])],
        store,
      });
      await send(await runtime.session('s'), 'a');
    }
    const failingModel = model('one', failingTurn);
    await using runtime = await openRuntime({ agents: [assistant([failingModel, two])], store });
    assert.equal(findAnswer(await send(await runtime.session('s'), 'b')), 'Instead.');
    assert.equal(failingModel.requests.length, 0);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a fallback model gets the same instruction, tools and callbacks', async () => {
  const callbacks: string[] = [];
  const [one, two] = [model('one', failingTurn), model('two', () => ({ text: 'Instead.' }))];
  const clerk = agent({
    name: 'clerk',
    model: one,
    fallbackModels: [two],
    modelAttempts: 1,
    instruction: 'Work for {user:name}.',
    tools: [tool({ name: 'look', description: 'Looks', execute: () => 'seen' })],
    callbacks: {
      beforeModel: () => void callbacks.push('before'),
      afterModel: () => void callbacks.push('after'),
    },
  });
  await using runtime = await openRuntime({ agents: [clerk] });
  const session = await runtime.session('s');
  for await (const event of session.send('a', { stateDelta: { 'user:name': 'Ada' } }))
    assert.notEqual(event.type, 'error');
  assert.deepEqual(two.requests, one.requests);
  assert.equal(two.requests[0]?.instruction, 'Work for Ada.');
  assert.deepEqual(
    two.requests[0].tools.map(({ name }) => name),
    ['look'],
  );
  assert.deepEqual(callbacks, ['before', 'after']);
});

test('each agent of a sequence has its own fallback models', async () => {
  const two = model('two', () => ({ text: 'Instead.' }));
  const clerk = agent({
    name: 'clerk',
    model: model('one', failingTurn),
    fallbackModels: [two],
    modelAttempts: 1,
  });
  const last = agent({ name: 'last', model: model('three', () => ({ text: 'Last.' })) });
  const sequence = sequential({ name: 'both', subAgents: [clerk, last] });
  await using runtime = await openRuntime({ agents: [sequence] });
  const events = await send(await runtime.session('s'), 'a');
  assert.equal(listAttempts(events).length, 1);
  const replies = events.flatMap((event) =>
    event.type === 'agent.message' ? [contentText(event.content)] : [],
  );
  assert.deepEqual(replies, ['Instead.', 'Last.']);
});
