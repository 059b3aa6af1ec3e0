import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { agent, checkInvariants, state } from '../../src/agents/index.ts';
import type { AgentDefinition, Callbacks } from '../../src/agents/index.ts';
import { contentText, userContent } from '../../src/core/index.ts';
import type { LogEntry } from '../../src/core/index.ts';
import { ModelError, ScriptedModel } from '../../src/models/index.ts';
import type { Model, ModelResponse, ScriptedTurn } from '../../src/models/index.ts';
import { mapIn } from '../../src/net/index.ts';
import { tool } from '../../src/tools/index.ts';
import { noOpCallbacks } from './no-op-callbacks.ts';
import { runAgent } from './run-agent.ts';
import type { RunningAgent } from './run-agent.ts';

const paidCents: number[] = [];
const pay = tool({
  name: 'pay',
  description: 'Pays.',
  parameters: z.object({ cents: z.number() }),
  needsApproval: ({ cents }) => cents > 1000,
  execute: ({ cents }) => {
    paidCents.push(cents);
    if (cents === 13) throw new Error('unlucky');
    return { paid: cents };
  },
});

const payThenDone = (cents: number): readonly ScriptedTurn[] => [
  { text: 'Paying.', toolCalls: [{ name: 'pay', args: { cents } }] },
  { text: 'Done.' },
];

const answer = (text: string): ModelResponse => ({
  content: { role: 'model', parts: [{ text }] },
  finishReason: 'stop',
});

function runClerk(
  callbacks: Callbacks,
  turns: readonly ScriptedTurn[] = [{ text: 'Hello.' }, { text: 'Hello again.' }],
  more: Partial<AgentDefinition> = {},
): RunningAgent {
  return runAgent(
    agent({ name: 'clerk', model: new ScriptedModel(turns), tools: [pay], callbacks, ...more }),
  );
}

const texts = (events: readonly LogEntry[]): readonly string[] =>
  events.flatMap((event) => (event.type === 'agent.message' ? [contentText(event.content)] : []));
const results = (events: readonly LogEntry[]): readonly unknown[] =>
  events.flatMap((event) => (event.type === 'tool.result' ? [event.response] : []));
const stopReason = (events: readonly LogEntry[]): unknown =>
  events.flatMap((event) => (event.type === 'turn.ended' ? [event.stopReason] : []))[0];

test('each callback adds one transition, and an agent without callbacks has none of them', () => {
  const names = (callbacks?: Callbacks): readonly string[] =>
    agent({
      name: 'clerk',
      model: new ScriptedModel([]),
      ...(callbacks !== undefined && { callbacks }),
    }).net.transitions.map(({ name }) => name);
  const plain = names();
  assert.deepEqual(names({}), plain);
  assert.deepEqual(names({ beforeModel: [] }), plain);
  const added = names(noOpCallbacks).filter((name) => !plain.includes(name));
  assert.deepEqual(added.toSorted(), [
    'agent.after',
    'agent.before',
    'model.after',
    'model.before',
    'model.on-error',
    'tool.after',
    'tool.before',
  ]);
  const withAll = agent({ name: 'clerk', model: new ScriptedModel([]), callbacks: noOpCallbacks });
  assert.deepEqual(withAll.compiled.warnings, []);
  checkInvariants(withAll.compiled);
});

test('callbacks that return nothing do not change the log', async () => {
  const plain = await runClerk({}, payThenDone(5)).sendAndWait('Pay.');
  const observed = runClerk(noOpCallbacks, payThenDone(5));
  assert.deepEqual(await observed.sendAndWait('Pay.'), plain);
});

test('beforeModel changes the request, and the change is journaled', async () => {
  const requests: unknown[] = [];
  const model: Model = {
    name: 'recording',
    generate: async (request) => {
      requests.push([request.instruction, request.contents.length]);
      return answer('Ahoy.');
    },
  };
  const session = runClerk(
    { beforeModel: () => ({ request: { instruction: 'Speak like a sailor.' } }) },
    [],
    { model },
  );
  assert.deepEqual(texts(await session.sendAndWait('Hello.')), ['Ahoy.']);
  assert.deepEqual(requests, [['Speak like a sailor.', 1]]);
  assert.ok(JSON.stringify(session.records).includes('Speak like a sailor.'));
});

test('the first callback that returns a value wins, and later callbacks do not run', async () => {
  const ranCallbacks: string[] = [];
  const session = runClerk({
    beforeModel: [
      () => void ranCallbacks.push('first'),
      () => ({ response: answer('From the cache.') }),
      () => void ranCallbacks.push('third'),
    ],
    afterModel: () => ({ response: answer('never asked: no model was') }),
  });
  assert.deepEqual(texts(await session.sendAndWait('Hello.')), ['From the cache.']);
  assert.deepEqual(ranCallbacks, ['first']);
  assert.ok(!session.fired().includes('model.call'));
});

test('afterModel replaces the answer and keeps the usage of the call', async () => {
  const usage = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };
  const model: Model = { name: 'm', generate: async () => ({ ...answer('secret'), usage }) };
  const session = runClerk(
    {
      afterModel: (_, { content }) =>
        contentText(content).includes('secret') ? { response: answer('[removed]') } : undefined,
    },
    [],
    { model },
  );
  const events = await session.sendAndWait('Hello.');
  assert.deepEqual(texts(events), ['[removed]']);
  const [message] = events.filter((event) => event.type === 'agent.message');
  assert.deepEqual(message?.usage, usage);
});

test('onModelError replaces the answer when the model call fails permanently', async () => {
  const model: Model = {
    name: 'm',
    generate: async () => {
      throw new ModelError({ kind: 'auth', model: 'm', message: 'no key' });
    },
  };
  const codes: string[] = [];
  const session = runClerk(
    {
      onModelError: (_, { code }) => {
        codes.push(code);
        return { response: answer('Try again later.') };
      },
      afterModel: (_, { content }) => ({ response: answer(`${contentText(content)}!`) }),
    },
    [],
    { model },
  );
  assert.deepEqual(texts(await session.sendAndWait('Hello.')), ['Try again later.!']);
  assert.equal(codes.length, 1);
});

for (const name of ['beforeModel', 'afterModel', 'beforeAgent', 'afterAgent'] as const) {
  test(`a ${name} callback that throws fails the turn, and the session continues`, async () => {
    let throws = true;
    const session = runClerk({
      [name]: () => {
        if (throws) throw new Error('no luck');
      },
    });
    const events = await session.sendAndWait('Hello.');
    assert.equal(stopReason(events), 'error');
    const [error] = events.filter((event) => event.type === 'error');
    assert.deepEqual([error?.code, error?.message], ['callback_failed', `${name} failed: no luck`]);
    throws = false;
    assert.equal(stopReason(await session.sendAndWait('Again.')), 'end_turn');
  });
}

test('beforeTool changes the arguments before approval is requested, so the approved arguments are those that run', async () => {
  paidCents.length = 0;
  const session = runClerk(
    { beforeTool: (_, { args }) => ({ args: { cents: Number(args['cents']) * 1000 } }) },
    payThenDone(5),
  );
  const events = await session.sendAndWait('Pay.');
  const [call] = events.filter((event) => event.type === 'tool.call');
  assert.deepEqual([call?.needs, call?.args], ['approval', { cents: 5000 }]);
  assert.deepEqual(paidCents, []);
  session.answer(session.parked()[0] ?? '', 'approved');
  await session.until('turn.ended');
  assert.deepEqual(paidCents, [5000]);
});

test('beforeTool returns a response instead of running the tool; a beforeTool that throws makes the call an error', async () => {
  paidCents.length = 0;
  const answering = runClerk(
    { beforeTool: () => ({ response: { refused: 'Not on Sundays.' } }) },
    payThenDone(5),
  );
  assert.deepEqual(results(await answering.sendAndWait('Pay.')), [{ refused: 'Not on Sundays.' }]);
  const throwing = runClerk(
    {
      beforeTool: () => {
        throw new Error('no luck');
      },
    },
    payThenDone(5),
  );
  const events = await throwing.sendAndWait('Pay.');
  assert.match(JSON.stringify(results(events)), /callback_failed.*no luck/);
  assert.equal(stopReason(events), 'end_turn');
  assert.deepEqual(paidCents, []);
});

test('beforeTool does not run for an unknown tool, and invalid arguments that it returns are refused', async () => {
  const calledTools: string[] = [];
  const session = runClerk(
    {
      beforeTool: (_, { name }) => {
        calledTools.push(name);
        return { args: { cents: 'many' } };
      },
    },
    [{ toolCalls: [{ name: 'nope' }, { name: 'pay', args: { cents: 1 } }] }, { text: 'Sorry.' }],
  );
  const events = await session.sendAndWait('Pay.');
  assert.deepEqual(calledTools, ['pay']);
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'tool.result' ? [event.outcome] : [])),
    ['not_found', 'invalid'],
  );
});

test('afterTool changes the response of a tool, and onToolError turns its error into a response', async () => {
  const callbacks: Callbacks = {
    onToolError: (_, { name }) => ({ response: { excused: name } }),
    afterTool: (_, { response }) => ({ response: { ...response, seen: true } }),
  };
  const succeeded = await runClerk(callbacks, payThenDone(5)).sendAndWait('Pay.');
  assert.deepEqual(results(succeeded), [{ paid: 5, seen: true }]);
  const failed = await runClerk(callbacks, payThenDone(13)).sendAndWait('Pay.');
  assert.deepEqual(results(failed), [{ excused: 'pay', seen: true }]);
});

test('state that afterTool writes is committed together with the state that the tool wrote', async () => {
  const count = tool({
    name: 'count',
    description: 'Counts.',
    execute: (_, { state: toolState }) => {
      toolState.set('n', 1);
      toolState.increment('total', 2);
    },
  });
  const session = runClerk(
    {
      afterTool: ({ state: callbackState }) => {
        callbackState.increment('n', 10);
        callbackState.increment('total');
        callbackState.set('after', callbackState.get('n') ?? null);
        return undefined;
      },
    },
    [{ toolCalls: [{ name: 'count' }] }, { text: 'Done.' }],
    { tools: [count] },
  );
  await session.sendAndWait('Count.');
  assert.deepEqual(mapIn(session.driver.executor.marking, state.name), {
    n: 11,
    total: 3,
    after: 11,
  });
});

test('beforeAgent answers instead of the agent, and afterAgent adds a message', async () => {
  const answering = runClerk({ beforeAgent: () => userContent('We are closed.') });
  assert.deepEqual(texts(await answering.sendAndWait('Hello.')), ['We are closed.']);
  assert.ok(!answering.fired().includes('model.call'));
  const appending = runClerk({ afterAgent: () => userContent('Anything else?') });
  assert.deepEqual(texts(await appending.sendAndWait('Hello.')), ['Hello.', 'Anything else?']);
  assert.deepEqual(appending.messages(), [
    'user: Hello.',
    'model: Hello.',
    'model: Anything else?',
  ]);
});

test('a callback reads the state that an earlier callback wrote', async () => {
  const readValues: unknown[] = [];
  const session = runClerk({
    beforeAgent: ({ state: callbackState }) => {
      callbackState.set('language', 'Latin');
      return undefined;
    },
    beforeModel: ({ state: callbackState }) => {
      readValues.push(callbackState.get('language'));
      return undefined;
    },
  });
  await session.sendAndWait('Hello.');
  assert.deepEqual(readValues, ['Latin']);
});

for (const name of ['beforeAgent', 'beforeModel', 'afterModel', 'afterAgent'] as const) {
  test(`endInvocation() in ${name} ends the turn, and the session continues`, async () => {
    const session = runClerk({
      [name]: ({ actions }: { actions: { endInvocation: () => void } }) => {
        actions.endInvocation();
      },
    });
    assert.equal(stopReason(await session.sendAndWait('Hello.')), 'end_turn');
    assert.equal(stopReason(await session.sendAndWait('Again.')), 'end_turn');
    assert.ok(session.fired().includes('turn.stop'));
  });
}

test('a tool that ends the turn aborts the other calls, and every call gets a result', async () => {
  let stopped = false;
  const quit = tool({
    name: 'quit',
    description: 'Ends the turn.',
    execute: (_, { actions }) => actions.endInvocation(),
  });
  const hang = tool({
    name: 'hang',
    description: 'Hangs.',
    execute: async (_, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          stopped = true;
          resolve('too late');
        });
      }),
  });
  const session = runClerk(
    {},
    [{ toolCalls: [{ name: 'hang' }, { name: 'quit' }] }, { text: 'Back.' }],
    { tools: [quit, hang] },
  );
  const events = await session.sendAndWait('Go.');
  assert.equal(stopReason(events), 'end_turn');
  assert.equal(stopped, true);
  const outcomes = events.flatMap((event) =>
    event.type === 'tool.result' ? [`${event.name} ${event.outcome}`] : [],
  );
  assert.deepEqual(outcomes.toSorted(), ['hang unknown', 'quit ok']);
  assert.deepEqual(texts(await session.sendAndWait('Again.')), ['Back.']);
});

test('state that a tool writes is committed even if the tool ends the turn', async () => {
  const quit = tool({
    name: 'quit',
    description: 'Ends the turn.',
    execute: (_, { actions, state: toolState }) => {
      toolState.set('why', 'enough');
      actions.endInvocation();
    },
  });
  const session = runClerk({}, [{ toolCalls: [{ name: 'quit' }] }], { tools: [quit] });
  assert.equal(stopReason(await session.sendAndWait('Go.')), 'end_turn');
  assert.deepEqual(mapIn(session.driver.executor.marking, state.name), { why: 'enough' });
});

test('an interrupt while beforeTool runs cancels the call', async () => {
  const session = runClerk({ beforeTool: async () => new Promise(() => {}) }, payThenDone(5));
  const invocationId = session.send('Pay.');
  await session.until('agent.message');
  session.interrupt(invocationId);
  await session.until('turn.ended');
  const last = session.log.findLast((event) => event.type === 'tool.result');
  assert.equal(last?.outcome, 'cancelled');
});
