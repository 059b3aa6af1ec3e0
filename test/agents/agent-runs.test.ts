import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  agent,
  agentTool,
  custom,
  loop,
  parallel,
  sequential,
  workflow,
} from '../../src/agents/index.ts';
import type { Agent, AgentDefinition } from '../../src/agents/index.ts';
import type { LogEvent, LogEventByType } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { ScriptedTurn } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';

const speaker = (
  name: string,
  turns: readonly ScriptedTurn[] = [],
  more: Partial<AgentDefinition> = {},
): Agent =>
  agent({
    name,
    description: `Is ${name}.`,
    model: new ScriptedModel([...turns, { text: name }, { text: name }, { text: name }]),
    ...more,
  });

const transferTo = (name: string): ScriptedTurn => ({
  toolCalls: [{ name: 'transfer_to_agent', args: { agent_name: name } }],
});

const afterAgent = { afterAgent: [async () => undefined] };

/** The log of a session that got these messages. */
async function readLog(root: Agent, messages = 1): Promise<readonly LogEvent[]> {
  await using runtime = await openRuntime({ agents: [root], store: new MemoryStore() });
  const session = await runtime.session('s', { agent: root.name });
  for (let index = 0; index < messages; index++) for await (const _ of session.send('go'));
  const log: LogEvent[] = [];
  for await (const event of session.events(0, { follow: false }))
    if (event.type !== 'partial' && event.type !== 'partial.reset') log.push(event);
  return log;
}

type Run = LogEventByType<'agent.started' | 'agent.ended' | 'node.started' | 'node.ended'>;

/** The starts and ends of a log, as `+a -a`; `|` is the end of a turn. */
function listRuns(log: readonly LogEvent[]): string {
  return log
    .flatMap((event) => {
      if (event.type === 'turn.ended') return ['|'];
      return isRun(event) ? [`${event.type.endsWith('started') ? '+' : '-'}${event.author}`] : [];
    })
    .join(' ');
}

function isRun(event: LogEvent): event is Run & LogEvent {
  return ['agent.started', 'agent.ended', 'node.started', 'node.ended'].includes(event.type);
}

test('an agent without sub-agents has no events of runs', async () => {
  assert.equal(listRuns(await readLog(speaker('a'))), '|');
});

test('the sub-agents of sequential, parallel and loop agents begin and end in their order', async () => {
  const cases: readonly (readonly [Agent, string])[] = [
    [sequential({ name: 'flow', subAgents: [speaker('a'), speaker('b')] }), '+a -a +b -b |'],
    [
      loop({ name: 'flow', subAgents: [speaker('a'), speaker('b')], maxIterations: 2 }),
      '+a -a +b -b +a -a +b -b |',
    ],
    [
      sequential({
        name: 'flow',
        subAgents: [
          speaker('a'),
          sequential({ name: 'inner', subAgents: [speaker('b'), speaker('c')] }),
        ],
      }),
      '+a -a +inner +b -b +c -c -inner |',
    ],
  ];
  for (const [root, expected] of cases) assert.equal(listRuns(await readLog(root)), expected);
  const both = listRuns(
    await readLog(parallel({ name: 'flow', subAgents: [speaker('a'), speaker('b')] })),
  );
  assert.match(both, /^\+a \+b (-a -b|-b -a) \|$/);
});

test('an agent begins before its message and ends after it, and its events have its branch and its parent', async () => {
  const log = await readLog(
    parallel({
      name: 'flow',
      subAgents: [sequential({ name: 'inner', subAgents: [speaker('a')] })],
    }),
  );
  const types = log.flatMap((event) =>
    isRun(event) || event.type === 'agent.message' || event.type === 'turn.started'
      ? [`${event.type} ${'author' in event ? event.author : ''}`]
      : [],
  );
  assert.deepEqual(types, [
    'turn.started ',
    'agent.started inner',
    'agent.started a',
    'agent.message a',
    'agent.ended a',
    'agent.ended inner',
  ]);
  const [inner, a] = log.filter(isRun);
  const { invocationId, branch } = a ?? {};
  assert.deepEqual([inner?.parent, a?.parent, branch], [undefined, 'inner', 'flow.inner']);
  assert.equal(invocationId, inner?.invocationId);
});

test('a transfer to a sub-agent leaves the first agent open, and a transfer back or to a peer ends the sub-agent', async () => {
  const team = (...turns: readonly ScriptedTurn[]): Agent =>
    speaker('triage', [transferTo('billing'), ...turns], {
      subAgents: [speaker('billing', [transferTo('refunds')]), speaker('refunds', turns)],
    });
  assert.equal(
    listRuns(await readLog(team(), 2)),
    '+billing -billing +refunds -refunds | +refunds -refunds |',
  );
  assert.equal(
    listRuns(await readLog(team(transferTo('triage')))),
    '+billing -billing +refunds -refunds |',
  );
});

test('the callbacks after an agent are a part of its run', async () => {
  const caller = speaker('caller', [transferTo('callee')], {
    callbacks: afterAgent,
    subAgents: [speaker('callee')],
  });
  const root = sequential({ name: 'flow', subAgents: [caller, speaker('last')] });
  assert.equal(listRuns(await readLog(root)), '+caller +callee -callee -caller +last -last |');
});

test('an agent that is called as a tool begins and ends with its call', async () => {
  const log = await readLog(
    speaker('caller', [{ toolCalls: [{ name: 'helper', args: { request: 'Help.' } }] }], {
      tools: [
        agentTool(speaker('helper')),
        tool({ name: 'other', description: 'Does nothing.', execute: () => 1 }),
      ],
    }),
  );
  assert.equal(listRuns(log), '+helper -helper |');
  const ids = log.flatMap((event) => (event.type === 'tool.call' ? [event.callId] : []));
  assert.deepEqual(
    log.filter(isRun).map(({ callId }) => callId),
    [...ids, ...ids],
  );
});

test('the functions, lists and agents of a workflow begin and end with their node', async () => {
  const root = workflow({
    name: 'flow',
    nodes: [
      { kind: 'function', name: 'prepare', run: () => ['x', 'y'] },
      { kind: 'each', name: 'items', run: (_, input) => input },
      { kind: 'agent', name: 'writer', agent: speaker('writer') },
    ],
    edges: [
      { from: 'START', to: 'prepare' },
      { from: 'prepare', to: 'items' },
      { from: 'items', to: 'writer' },
    ],
  });
  const log = await readLog(root);
  assert.equal(listRuns(log), '+prepare -prepare +items -items +writer -writer |');
  const info = log.filter(isRun).map(({ type, nodeInfo }) => `${type} ${nodeInfo?.path ?? ''}`);
  assert.deepEqual(info.slice(0, 2), ['node.started flow/prepare@1', 'node.ended flow/prepare@1']);
  assert.match(info.at(-2) ?? '', /^agent\.started flow.*writer@1$/);
});

test('a custom agent runs its sub-agents as it decides', async () => {
  const root = custom({
    name: 'boss',
    subAgents: [speaker('a'), speaker('b')],
    async *run(context) {
      yield* context.run('b');
      yield* context.run('a');
    },
  });
  assert.equal(listRuns(await readLog(root)), '+b -b +a -a |');
});
