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

async function say(session: Session, text: string): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of session.send(text)) if ('seq' in event) events.push(event);
  return events;
}

function answerIn(events: readonly LogEvent[]): string | undefined {
  const message = events.find((event) => event.type === 'agent.message');
  return message && contentText(message.content);
}

function attemptsIn(events: readonly LogEvent[]): readonly LogEventByType<'model.attempt'>[] {
  return events.filter((event) => event.type === 'model.attempt');
}

const fails = (): ScriptedTurn => ({ error: { kind: 'overloaded', message: 'busy' } });

test('the first healthy model answers, and the log says why the others did not', async () => {
  const [one, two] = [model('one', fails), model('two', fails)];
  const three = model('three', () => ({ text: 'I answer.' }));
  await using runtime = await openRuntime({ agents: [assistant([one, two, three])] });
  const events = await say(await runtime.session('s'), 'Hello');
  assert.equal(answerIn(events), 'I answer.');
  assert.deepEqual(
    attemptsIn(events).map(({ attempt, error }) => [attempt, error]),
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

test('a model that failed is passed over for a while, and then asked again', async () => {
  const clock = new SimulatedClock(1_000_000);
  let isDown = true;
  const one = model('one', () => (isDown ? fails() : { text: 'Back.' }));
  const two = model('two', () => ({ text: 'Instead.' }));
  await using runtime = await openRuntime({ agents: [assistant([one, two])], clock });
  const session = await runtime.session('s');
  assert.equal(answerIn(await say(session, 'a')), 'Instead.');
  isDown = false;
  const second = await say(session, 'b');
  assert.deepEqual([answerIn(second), attemptsIn(second)], ['Instead.', []]);
  clock.advance(59_000);
  assert.equal(answerIn(await say(session, 'c')), 'Instead.');
  clock.advance(1_000);
  // What is enabled goes before what falls due: a message of the same moment would still find it down.
  while ((await session.status()).nextDueAt !== null) await breath();
  assert.equal(answerIn(await say(session, 'd')), 'Back.');
});

test('a model is tried as often as said before the next is asked', async () => {
  const clock = new SimulatedClock(1_000_000);
  const one = model('one', () => ({ error: { kind: 'rate_limit', retryAfterMs: 500 } }));
  const two = model('two', () => ({ text: 'Instead.' }));
  await using runtime = await openRuntime({ agents: [assistant([one, two], 2)], clock });
  const session = await runtime.session('s');
  const saying = say(session, 'a');
  while (one.requests.length < 2) {
    clock.advance(500);
    await breath();
  }
  assert.equal(answerIn(await saying), 'Instead.');
  assert.equal(one.requests.length, 2);
});

test('a model that asks for a long wait is not waited for while there is another', async () => {
  const busy = (): ScriptedTurn => ({ error: { kind: 'rate_limit', retryAfterMs: 600_000 } });
  const one = model('one', busy);
  const two = model('two', () => ({ text: 'Instead.' }));
  await using runtime = await openRuntime({ agents: [assistant([one, two], 4)] });
  const events = await say(await runtime.session('s'), 'a');
  assert.equal(answerIn(events), 'Instead.');
  assert.equal(one.requests.length, 1);
  const [attempt] = attemptsIn(events);
  assert.equal(attempt?.error?.code, 'model_rate_limit');
});

test('the last model is waited for as long as it asks', async () => {
  const clock = new SimulatedClock(1_000_000);
  let isBusy = true;
  const one = model('one', fails);
  const two = model('two', () =>
    isBusy ? { error: { kind: 'rate_limit', retryAfterMs: 600_000 } } : { text: 'At last.' },
  );
  await using runtime = await openRuntime({ agents: [assistant([one, two], 2)], clock });
  const session = await runtime.session('s');
  const saying = say(session, 'a');
  while (two.requests.length < 1) {
    clock.advance(1000);
    await breath();
  }
  isBusy = false;
  while (two.requests.length < 2) {
    clock.advance(60_000);
    await breath();
  }
  assert.equal(answerIn(await saying), 'At last.');
});

test('when all are down the turn ends with what the last one said', async () => {
  const models = [model('one', fails), model('two', () => ({ error: { kind: 'auth' } }))];
  await using runtime = await openRuntime({ agents: [assistant(models)] });
  const session = await runtime.session('s');
  const events = await say(session, 'a');
  const error = events.find((event) => event.type === 'error');
  const ended = events.find((event) => event.type === 'turn.ended');
  assert.deepEqual([error?.code, ended?.stopReason], ['model_auth', 'error']);
  // The session is alive, and a later turn tries again.
  assert.equal((await say(session, 'b')).at(-1)?.type, 'turn.ended');
});

test('an interrupt stops whichever model is asked, and the session goes on', async () => {
  let isSlow = true;
  const two = model('two', () => ({ text: 'Done.', ...(isSlow && { delayMs: 600_000 }) }));
  await using runtime = await openRuntime({ agents: [assistant([model('one', fails), two])] });
  const session = await runtime.session('s');
  const ends: unknown[] = [];
  for await (const event of session.send('a')) {
    if (event.type === 'model.attempt') await session.interrupt();
    if (event.type === 'turn.ended') ends.push(event.stopReason);
  }
  assert.deepEqual(ends, ['interrupted']);
  isSlow = false;
  assert.equal(answerIn(await say(session, 'b')), 'Done.');
});

test('which models are down survives the process', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-fallback-'));
  const store = `sqlite:${join(folder, 'a.db')}`;
  const two = model('two', () => ({ text: 'Instead.' }));
  try {
    {
      await using runtime = await openRuntime({
        agents: [assistant([model('one', fails), two])],
        store,
      });
      await say(await runtime.session('s'), 'a');
    }
    const again = model('one', fails);
    await using runtime = await openRuntime({ agents: [assistant([again, two])], store });
    assert.equal(answerIn(await say(await runtime.session('s'), 'b')), 'Instead.');
    assert.equal(again.requests.length, 0);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the next model is asked the same, with the instruction, the tools and the callbacks of the agent', async () => {
  const seen: string[] = [];
  const [one, two] = [model('one', fails), model('two', () => ({ text: 'Instead.' }))];
  const clerk = agent({
    name: 'clerk',
    model: one,
    fallbackModels: [two],
    modelAttempts: 1,
    instruction: 'Work for {user:name}.',
    tools: [tool({ name: 'look', description: 'Looks', execute: () => 'seen' })],
    callbacks: {
      beforeModel: () => void seen.push('before'),
      afterModel: () => void seen.push('after'),
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
  assert.deepEqual(seen, ['before', 'after']);
});

test('an agent among others has its own fallback', async () => {
  const two = model('two', () => ({ text: 'Instead.' }));
  const clerk = agent({
    name: 'clerk',
    model: model('one', fails),
    fallbackModels: [two],
    modelAttempts: 1,
  });
  const last = agent({ name: 'last', model: model('three', () => ({ text: 'Last.' })) });
  const both = sequential({ name: 'both', subAgents: [clerk, last] });
  await using runtime = await openRuntime({ agents: [both] });
  const events = await say(await runtime.session('s'), 'a');
  assert.equal(attemptsIn(events).length, 1);
  const said = events.flatMap((event) =>
    event.type === 'agent.message' ? [contentText(event.content)] : [],
  );
  assert.deepEqual(said, ['Instead.', 'Last.']);
});
