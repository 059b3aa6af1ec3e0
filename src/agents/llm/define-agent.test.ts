import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { InvalidInputError, deriveInvocationId, userContent } from '../../core/index.ts';
import type { LogEntry } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import type { ScriptedTurn } from '../../models/index.ts';
import {
  Driver,
  emptyMarking,
  Executor,
  listIn,
  systemClock,
  tokensIn,
  valuesIn,
} from '../../net/index.ts';
import type { JournalRecord } from '../../net/index.ts';
import { tool } from '../../tools/index.ts';
import type { Tool } from '../../tools/index.ts';
import type { Agent } from '../agent/agent.ts';
import { agent } from './define-agent.ts';
import { toolParked } from '../vocabulary/tool-call.ts';

/** Runs an agent's net on a journal in memory. */
function run(of: Agent): {
  driver: Driver;
  log: LogEntry[];
  records: JournalRecord[];
  commits: () => number;
  send: (text: string) => string;
  until: (type: LogEntry['type'], times?: number) => Promise<void>;
} {
  const log: LogEntry[] = [];
  const records: JournalRecord[] = [];
  let commits = 0;
  let waiting: (() => void)[] = [];
  const driver = new Driver({
    executor: (onAbort) => {
      const executor = new Executor(of.compiled, emptyMarking(), { toFiringId: String, onAbort });
      executor.begin(systemClock.now());
      return executor;
    },
    clock: systemClock,
    commit: async (step) => {
      commits++;
      records.push(...step.records);
      log.push(...step.outlets.map(({ value }) => value as unknown as LogEntry));
      return 'committed';
    },
    onCommitted: () => {
      for (const resolve of waiting) resolve();
      waiting = [];
    },
    onProgress: () => {},
    onRefused: () => {},
    onFailed: (error) => {
      throw error;
    },
    reload: async () => {
      throw new Error('no conflicts here');
    },
  });
  let messages = 0;
  return {
    driver,
    log,
    records,
    commits: () => commits,
    send: (text) => {
      const messageId = `m${++messages}`;
      const invocationId = deriveInvocationId(messageId);
      driver.inject({
        place: 'user.in',
        value: { messageId, invocationId, content: userContent(text) },
      });
      return invocationId;
    },
    until: async (type, times = 1) => {
      while (log.filter((event) => event.type === type).length < times)
        await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}

const add = tool({
  name: 'add',
  description: 'Adds.',
  parameters: z.object({ a: z.number(), b: z.number() }),
  readOnly: true,
  execute: ({ a, b }) => a + b,
});

const twoTools: readonly ScriptedTurn[] = [
  {
    text: 'Adding.',
    toolCalls: [
      { name: 'add', args: { a: 1, b: 2 } },
      { name: 'add', args: { a: 3, b: 4 } },
    ],
  },
  { text: 'Three and seven.' },
];

const assistant = (turns: readonly ScriptedTurn[], tools: readonly Tool[], more = {}): Agent =>
  agent({ name: 'assistant', model: new ScriptedModel(turns), tools, ...more });

test('a turn with two tools takes about 14 records and at most 4 commits after the message is accepted', async () => {
  const { driver, log, records, commits, send, until } = run(assistant(twoTools, [add]));
  send('Add.');
  await until('turn.ended');
  assert.deepEqual(
    log.map((event) => event.type),
    [
      'user.message',
      'turn.started',
      'agent.message',
      'tool.call',
      'tool.call',
      'tool.result',
      'tool.result',
      'agent.message',
      'turn.ended',
    ],
  );
  assert.deepEqual(
    records.map((record) => ('t' in record ? `${record.kind} ${record.t}` : record.kind)),
    [
      'injected',
      'injected',
      'fired turn.start',
      'started model.call',
      'ended model.call',
      'fired model.route',
      'started tool.run',
      'started tool.run',
      'ended tool.run',
      'ended tool.run',
      'fired turn.continue',
      'started model.call',
      'ended model.call',
      'fired model.route',
      'fired turn.end',
    ],
  );
  assert.equal(commits(), 4);
  assert.equal(listIn(driver.executor.marking, 'conversation').items.length, 4);
  driver.stop();
});

test('the shipped agent net builds without a warning', () => {
  assert.deepEqual(assistant([], [add]).compiled.warnings, []);
});

test('a call that needs approval waits as a token, and the approved call runs once', async () => {
  const removed: string[] = [];
  const remove = tool({
    name: 'remove',
    description: 'Removes.',
    parameters: z.object({ path: z.string() }),
    needsApproval: true,
    execute: ({ path }) => {
      removed.push(path);
      return { removed: path };
    },
  });
  const { driver, log, send, until } = run(
    assistant(
      [{ toolCalls: [{ name: 'remove', args: { path: 'a' } }] }, { text: 'Done.' }],
      [remove],
    ),
  );
  send('Remove a.');
  await until('turn.waiting');
  assert.deepEqual(removed, []);
  const [parked] = tokensIn(driver.executor.marking, 'tool.parked');
  const callId = String(Reflect.get(Object(parked?.value), 'callId'));
  driver.inject({ place: 'answer.in', value: { callId, decision: 'approved' } });
  await until('turn.ended');
  assert.deepEqual(removed, ['a']);
  assert.deepEqual(
    log.map((event) => event.type),
    [
      'user.message',
      'turn.started',
      'agent.message',
      'tool.call',
      'turn.waiting',
      'turn.resumed',
      'tool.answered',
      'tool.result',
      'agent.message',
      'turn.ended',
    ],
  );
  driver.stop();
});

test('a turn whose re-ask budget is used up ends after a last model answer', async () => {
  const again: ScriptedTurn = { toolCalls: [{ name: 'add', args: { a: 1, b: 1 } }] };
  const { driver, log, send, until } = run(
    assistant([again, again, again, again], [add], { reaskBudget: 2 }),
  );
  send('Loop.');
  await until('turn.ended');
  const last = log.at(-1);
  assert.equal(last?.type === 'turn.ended' && last.stopReason, 'budget_reached');
  assert.equal(log.filter((event) => event.type === 'tool.result').length, 3);
  driver.stop();
});

test('an interrupt ends a tool that ignores it and answers its call, and the session continues', async () => {
  const hang = tool({ name: 'hang', description: 'Hangs.', execute: () => new Promise(() => {}) });
  const { driver, log, send, until } = run(
    assistant([{ toolCalls: [{ name: 'hang' }, { name: 'hang' }] }, { text: 'Back.' }], [hang]),
  );
  const invocationId = send('Hang.');
  await until('tool.call');
  driver.inject({ place: 'interrupt.in', value: { invocationId } });
  await until('turn.ended');
  assert.deepEqual(
    log.filter((event) => event.type === 'tool.result').map((event) => event.outcome),
    ['unknown', 'unknown'],
  );
  send('Go on.');
  await until('turn.ended', 2);
  assert.equal(log.at(-2)?.type, 'agent.message');
  driver.stop();
});

test('unknown tools, malformed arguments and tools that throw are reported to the model', async () => {
  const bad = tool({
    name: 'bad',
    description: 'Throws.',
    execute: () => {
      throw new Error('no luck');
    },
  });
  const odd = tool({
    name: 'odd',
    description: 'Returns what JSON has no word for.',
    execute: () => ({ when: new Map() }),
  });
  const { driver, log, send, until } = run(
    assistant(
      [
        {
          toolCalls: [
            { name: 'nope' },
            { name: 'add', malformedArgs: '{"a":' },
            { name: 'add', args: { a: 'x' } },
            { name: 'bad' },
            { name: 'odd' },
          ],
        },
        { text: 'Sorry.' },
      ],
      [add, bad, odd],
    ),
  );
  send('Try.');
  await until('turn.ended');
  assert.deepEqual(
    log.filter((event) => event.type === 'tool.result').map((event) => event.outcome),
    ['not_found', 'invalid', 'invalid', 'error', 'error'],
  );
  const item = listIn(driver.executor.marking, 'conversation').items[2] as unknown as {
    content: { parts: unknown[] };
  };
  assert.equal(item.content.parts.length, 5);
  driver.stop();
});

test('the model is not asked again after a tool result with skipSummarization', async () => {
  const report = tool({
    name: 'report',
    description: 'Reports.',
    execute: (_args, { act }) => {
      act({ skipSummarization: true });
      return { text: 'All is well.' };
    },
  });
  const { driver, log, send, until } = run(
    assistant([{ toolCalls: [{ name: 'report' }] }], [report]),
  );
  send('Report.');
  await until('turn.ended');
  const [result] = log.filter((event) => event.type === 'tool.result');
  assert.deepEqual(result?.actions, { skipSummarization: true });
  assert.equal(log.filter((event) => event.type === 'agent.message').length, 1);
  driver.stop();
});

test('a call that needs approval and is answered from outside waits for the approval, then for the answer', async () => {
  const deploy = tool({ name: 'deploy', description: 'Done by people.', needsApproval: true });
  const { driver, log, send, until } = run(
    assistant([{ toolCalls: [{ name: 'deploy' }] }, { text: 'Out.' }], [deploy]),
  );
  send('Deploy.');
  await until('turn.waiting');
  const callId = String(
    Reflect.get(Object(valuesIn(driver.executor.marking, toolParked)[0]), 'callId'),
  );
  driver.inject({ place: 'answer.in', value: { callId, decision: 'approved' } });
  await until('turn.waiting', 2);
  driver.inject({
    place: 'answer.in',
    value: { callId, decision: 'answered', response: { done: true } },
  });
  await until('turn.ended');
  const [result] = log.filter((event) => event.type === 'tool.result');
  assert.deepEqual(result?.response, { done: true });
  driver.stop();
});

test('an agent with a re-ask budget of 0 ends its turn after the first tools', async () => {
  const { driver, log, send, until } = run(assistant(twoTools, [add], { reaskBudget: 0 }));
  send('Add.');
  await until('turn.ended');
  const last = log.at(-1);
  assert.equal(last?.type === 'turn.ended' && last.stopReason, 'budget_reached');
  driver.stop();
});

test('an option of another type is refused when the agent is made, with its name and its value', () => {
  const model = new ScriptedModel([]);
  const wrong = {
    description: 7,
    budgetMessage: 7,
    outputKey: 7,
    callbacks: 7,
    extensions: 7,
    modelTimeoutMs: 'soon',
    modelCoolDownMs: -1,
  };
  for (const [field, value] of Object.entries(wrong))
    assert.throws(
      () => agent({ name: 'clerk', model, [field]: value }),
      (error) =>
        error instanceof InvalidInputError &&
        error.field === field &&
        /of agent "clerk" must be .*; it is /.test(error.message),
      field,
    );
});

test('an output key that no state can have is refused when the agent is made', () => {
  const model = new ScriptedModel([]);
  for (const outputKey of ['', 'notes/today', 'session:user:note', 'k'.repeat(257)])
    assert.throws(() => agent({ name: 'clerk', model, outputKey }), {
      code: 'invalid_input',
      field: 'outputKey',
      message: /^outputKey: of agent "clerk" must be a state key: .*; it is "/,
    });
});

test('the output key session:note is the state key note', async () => {
  const model = new ScriptedModel([{ text: 'Milk.' }]);
  const { driver, log, send, until } = run(
    agent({ name: 'clerk', model, outputKey: 'session:note' }),
  );
  send('What is missing?');
  await until('turn.ended');
  const [message] = log.filter((event) => event.type === 'agent.message');
  assert.deepEqual(message?.actions?.stateDelta, { note: 'Milk.' });
  driver.stop();
});
