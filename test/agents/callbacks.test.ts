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
import { runAgent } from './run-agent.ts';
import type { RunningAgent } from './run-agent.ts';

const paid: number[] = [];
const pay = tool({
  name: 'pay',
  description: 'Pays.',
  parameters: z.object({ cents: z.number() }),
  needsApproval: ({ cents }) => cents > 1000,
  execute: ({ cents }) => {
    paid.push(cents);
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

function running(
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

test('an agent without callbacks has the net it had: each callback is a transition, added when there is one', () => {
  const names = (callbacks?: Callbacks): readonly string[] =>
    agent({
      name: 'clerk',
      model: new ScriptedModel([]),
      ...(callbacks !== undefined && { callbacks }),
    }).net.transitions.map(({ name }) => name);
  const plain = names();
  assert.deepEqual(names({}), plain);
  assert.deepEqual(names({ beforeModel: [] }), plain);
  const all: Callbacks = {
    beforeModel: () => undefined,
    afterModel: () => undefined,
    onModelError: () => undefined,
    beforeTool: () => undefined,
    afterTool: () => undefined,
    onToolError: () => undefined,
    beforeAgent: () => undefined,
    afterAgent: () => undefined,
  };
  const added = names(all).filter((name) => !plain.includes(name));
  assert.deepEqual(added.toSorted(), [
    'agent.after',
    'agent.before',
    'model.after',
    'model.before',
    'model.on-error',
    'tool.after',
    'tool.before',
  ]);
  const whole = agent({ name: 'clerk', model: new ScriptedModel([]), callbacks: all });
  assert.deepEqual(whole.compiled.warnings, []);
  checkInvariants(whole.compiled);
});

test('callbacks that say nothing change nothing', async () => {
  const plain = await running({}, payThenDone(5)).sendAndWait('Pay.');
  const watched = running(
    {
      beforeModel: () => undefined,
      afterModel: async () => undefined,
      beforeTool: () => undefined,
      afterTool: () => undefined,
      beforeAgent: () => undefined,
      afterAgent: () => undefined,
    },
    payThenDone(5),
  );
  assert.deepEqual(await watched.sendAndWait('Pay.'), plain);
});

test('a callback before the model changes the request, and what it changed stands in the journal', async () => {
  const asked: unknown[] = [];
  const model: Model = {
    name: 'recording',
    generate: async (request) => {
      asked.push([request.instruction, request.contents.length]);
      return answer('Ahoy.');
    },
  };
  const session = running(
    { beforeModel: () => ({ request: { instruction: 'Speak like a sailor.' } }) },
    [],
    { model },
  );
  assert.deepEqual(texts(await session.sendAndWait('Hello.')), ['Ahoy.']);
  assert.deepEqual(asked, [['Speak like a sailor.', 1]]);
  assert.ok(JSON.stringify(session.records).includes('Speak like a sailor.'));
});

test('of several callbacks the first that says something has the last word', async () => {
  const asked: string[] = [];
  const session = running({
    beforeModel: [
      () => void asked.push('first'),
      () => ({ response: answer('From the cache.') }),
      () => void asked.push('third'),
    ],
    afterModel: () => ({ response: answer('never asked: no model was') }),
  });
  assert.deepEqual(texts(await session.sendAndWait('Hello.')), ['From the cache.']);
  assert.deepEqual(asked, ['first']);
  assert.ok(!session.fired().includes('model.ask'));
});

test('a callback after the model answers otherwise, and the usage stays what it was', async () => {
  const usage = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };
  const model: Model = { name: 'm', generate: async () => ({ ...answer('secret'), usage }) };
  const session = running(
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

test('when the model fails for good, a callback may answer in its place', async () => {
  const model: Model = {
    name: 'm',
    generate: async () => {
      throw new ModelError({ kind: 'auth', model: 'm', message: 'no key' });
    },
  };
  const codes: string[] = [];
  const session = running(
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
  test(`a ${name} that throws fails its turn, and the session goes on`, async () => {
    let throws = true;
    const session = running({
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

test('a guard that changes the arguments runs before approval is asked: what is approved is what runs', async () => {
  paid.length = 0;
  const session = running(
    { beforeTool: (_, { args }) => ({ args: { cents: Number(args['cents']) * 1000 } }) },
    payThenDone(5),
  );
  const events = await session.sendAndWait('Pay.');
  const [call] = events.filter((event) => event.type === 'tool.call');
  assert.deepEqual([call?.needs, call?.args], ['approval', { cents: 5000 }]);
  assert.deepEqual(paid, []);
  session.answer(session.parked()[0] ?? '', 'approved');
  await session.until('turn.ended');
  assert.deepEqual(paid, [5000]);
});

test('a guard may answer in the place of a tool; one that throws answers its call with an error', async () => {
  paid.length = 0;
  const refusing = running(
    { beforeTool: () => ({ response: { refused: 'Not on Sundays.' } }) },
    payThenDone(5),
  );
  assert.deepEqual(results(await refusing.sendAndWait('Pay.')), [{ refused: 'Not on Sundays.' }]);
  const throwing = running(
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
  assert.deepEqual(paid, []);
});

test('a guard sees no call that cannot be made, and arguments it made wrong are refused', async () => {
  const seen: string[] = [];
  const session = running(
    {
      beforeTool: (_, { name }) => {
        seen.push(name);
        return { args: { cents: 'many' } };
      },
    },
    [{ toolCalls: [{ name: 'nope' }, { name: 'pay', args: { cents: 1 } }] }, { text: 'Sorry.' }],
  );
  const events = await session.sendAndWait('Pay.');
  assert.deepEqual(seen, ['pay']);
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'tool.result' ? [event.outcome] : [])),
    ['not_found', 'invalid'],
  );
});

test('callbacks after a tool change what it gave, and turn its failure into a response', async () => {
  const callbacks: Callbacks = {
    onToolError: (_, { name }) => ({ response: { excused: name } }),
    afterTool: (_, { response }) => ({ response: { ...response, seen: true } }),
  };
  const well = await running(callbacks, payThenDone(5)).sendAndWait('Pay.');
  assert.deepEqual(results(well), [{ paid: 5, seen: true }]);
  const failed = await running(callbacks, payThenDone(13)).sendAndWait('Pay.');
  assert.deepEqual(results(failed), [{ excused: 'pay', seen: true }]);
});

test('what a callback after a tool writes is committed with what the tool wrote', async () => {
  const count = tool({
    name: 'count',
    description: 'Counts.',
    execute: (_, { state: own }) => {
      own.set('n', 1);
      own.increment('total', 2);
    },
  });
  const session = running(
    {
      afterTool: ({ state: own }) => {
        own.increment('n', 10);
        own.increment('total');
        own.set('after', own.get('n') ?? null);
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

test('a callback before the agent answers in its place; one after it has more to say', async () => {
  const closed = running({ beforeAgent: () => userContent('We are closed.') });
  assert.deepEqual(texts(await closed.sendAndWait('Hello.')), ['We are closed.']);
  assert.ok(!closed.fired().includes('model.ask'));
  const polite = running({ afterAgent: () => userContent('Anything else?') });
  assert.deepEqual(texts(await polite.sendAndWait('Hello.')), ['Hello.', 'Anything else?']);
  assert.deepEqual(polite.messages(), ['user: Hello.', 'model: Hello.', 'model: Anything else?']);
});

test('state that a callback writes is there for the next one', async () => {
  const seen: unknown[] = [];
  const session = running({
    beforeAgent: ({ state: own }) => {
      own.set('language', 'Latin');
      return undefined;
    },
    beforeModel: ({ state: own }) => {
      seen.push(own.get('language'));
      return undefined;
    },
  });
  await session.sendAndWait('Hello.');
  assert.deepEqual(seen, ['Latin']);
});

for (const name of ['beforeAgent', 'beforeModel', 'afterModel', 'afterAgent'] as const) {
  test(`a turn that ${name} ends stops there, and the session goes on`, async () => {
    const session = running({
      [name]: ({ actions }: { actions: { endInvocation: () => void } }) => {
        actions.endInvocation();
      },
    });
    assert.equal(stopReason(await session.sendAndWait('Hello.')), 'end_turn');
    assert.equal(stopReason(await session.sendAndWait('Again.')), 'end_turn');
    assert.ok(session.fired().includes('turn.stop'));
  });
}

test('a tool that ends the turn stops the calls beside it, and each call has its answer', async () => {
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
  const session = running(
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

test('a tool that writes and ends the turn has written', async () => {
  const quit = tool({
    name: 'quit',
    description: 'Ends the turn.',
    execute: (_, { actions, state: own }) => {
      own.set('why', 'enough');
      actions.endInvocation();
    },
  });
  const session = running({}, [{ toolCalls: [{ name: 'quit' }] }], { tools: [quit] });
  assert.equal(stopReason(await session.sendAndWait('Go.')), 'end_turn');
  assert.deepEqual(mapIn(session.driver.executor.marking, state.name), { why: 'enough' });
});

test('an interrupt while a guard thinks answers the call', async () => {
  const session = running({ beforeTool: async () => new Promise(() => {}) }, payThenDone(5));
  const invocationId = session.send('Pay.');
  await session.until('agent.message');
  session.interrupt(invocationId);
  await session.until('turn.ended');
  const last = session.log.findLast((event) => event.type === 'tool.result');
  assert.equal(last?.outcome, 'cancelled');
});
