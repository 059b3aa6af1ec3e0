import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  agent,
  checkInvariants,
  custom,
  InvariantError,
  loop,
  parallel,
  sequential,
  state,
} from '../../src/agents/index.ts';
import type { Agent, AgentDefinition } from '../../src/agents/index.ts';
import { contentText } from '../../src/core/index.ts';
import type { LogEntry } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { Model, ScriptedTurn } from '../../src/models/index.ts';
import { omitAlternatives } from '../../src/net/internal.ts';
import { compile, mapIn } from '../../src/net/index.ts';
import type { Transition } from '../../src/net/index.ts';
import { tool } from '../../src/tools/index.ts';
import { runAgent } from './run-agent.ts';

function scriptedAgent(
  name: string,
  turns: readonly (string | ScriptedTurn)[],
  more: Partial<AgentDefinition> = {},
): Agent {
  const script = turns.map((turn) => (typeof turn === 'string' ? { text: turn } : turn));
  return agent({ name, description: `Is ${name}.`, model: new ScriptedModel(script), ...more });
}

const transferTo = (name: string): ScriptedTurn => ({
  toolCalls: [{ name: 'transfer_to_agent', args: { agent_name: name } }],
});

/** A model that repeats all contents of its request. */
const echo: Model = {
  name: 'echo',
  generate: async ({ contents }) => ({
    content: { role: 'model', parts: [{ text: contents.map(contentText).join(' | ') }] },
    finishReason: 'stop',
  }),
};

const messages = (events: readonly LogEntry[]): readonly string[] =>
  events.flatMap((event) =>
    event.type === 'agent.message' ? [`${event.author}: ${contentText(event.content)}`] : [],
  );
const reasons = (events: readonly LogEntry[]): readonly string[] =>
  events.flatMap((event) => (event.type === 'turn.ended' ? [event.stopReason] : []));
const codes = (events: readonly LogEntry[]): readonly string[] =>
  events.flatMap((event) => (event.type === 'error' ? [event.code] : []));

const escalateTool = tool({
  name: 'enough',
  description: 'Leaves the loop.',
  execute: (_, { actions }) => {
    actions.escalate();
    actions.skipSummarization();
  },
});

test('every composition of agents builds one net without warnings and satisfies all invariants', () => {
  const kinds: readonly Agent[] = [
    sequential({ name: 'flow', subAgents: [scriptedAgent('a', []), scriptedAgent('b', [])] }),
    parallel({ name: 'flow', subAgents: [scriptedAgent('a', []), scriptedAgent('b', [])] }),
    loop({
      name: 'flow',
      subAgents: [scriptedAgent('a', []), scriptedAgent('b', [])],
      maxIterations: 3,
    }),
    custom({ name: 'flow', subAgents: [scriptedAgent('a', [])], async *run() {} }),
    scriptedAgent('flow', [], { subAgents: [scriptedAgent('a', []), scriptedAgent('b', [])] }),
    scriptedAgent('flow', [], {
      subAgents: [
        sequential({
          name: 's',
          subAgents: [
            parallel({ name: 'p', subAgents: [scriptedAgent('a', []), scriptedAgent('b', [])] }),
            scriptedAgent('c', []),
          ],
          callbacks: { beforeAgent: () => undefined, afterAgent: () => undefined },
        }),
      ],
    }),
  ];
  for (const { name, compiled } of kinds) {
    assert.equal(name, 'flow');
    assert.deepEqual(compiled.warnings, []);
    checkInvariants(compiled);
  }
});

test('a sequential agent passes messages and output keys to the next agent', async () => {
  const flow = sequential({
    name: 'report',
    subAgents: [
      scriptedAgent('writer', ['A draft.'], { outputKey: 'draft' }),
      agent({
        name: 'critic',
        model: echo,
        instruction: ({ state: readState }) => `Judge: ${String(readState['draft'])}`,
      }),
    ],
  });
  const session = runAgent(flow);
  const events = await session.sendAndWait('Write.');
  assert.deepEqual(messages(events), [
    'writer: A draft.',
    'critic: Write. | For context:[writer] said: A draft.',
  ]);
  assert.deepEqual(reasons(events), ['end_turn']);
  assert.deepEqual(mapIn(session.driver.executor.marking, state.name), { draft: 'A draft.' });
  const [first] = events.filter((event) => event.type === 'agent.message');
  assert.deepEqual(first?.actions, { stateDelta: { draft: 'A draft.' } });
});

test('parallel agents run concurrently, do not see the messages of each other, and have branches', async () => {
  const { promise: bothCalled, resolve } = Promise.withResolvers<void>();
  let waiting = 0;
  const barrierModel: Model = {
    name: 'meeting',
    generate: async (request, context) => {
      if (++waiting === 2) resolve();
      // Neither answers before both were called.
      await bothCalled;
      return echo.generate(request, context);
    },
  };
  const flow = sequential({
    name: 'whole',
    subAgents: [
      parallel({
        name: 'research',
        subAgents: [
          agent({ name: 'physics', model: barrierModel }),
          agent({ name: 'poetry', model: barrierModel }),
        ],
      }),
      agent({ name: 'editor', model: echo }),
    ],
  });
  const events = await runAgent(flow).sendAndWait('Light?');
  assert.deepEqual(messages(events).toSorted(), [
    'editor: Light? | For context:[physics] said: Light? | For context:[poetry] said: Light?',
    'physics: Light?',
    'poetry: Light?',
  ]);
  const branches = events.flatMap((event) =>
    event.type === 'agent.message' ? [`${event.author} ${event.branch ?? '-'}`] : [],
  );
  assert.deepEqual(branches.toSorted(), [
    'editor -',
    'physics research.physics',
    'poetry research.poetry',
  ]);
});

test('a tool of one parallel agent does not block another agent, and their call ids are unique', async () => {
  let release = (): void => {};
  const slow = tool({
    name: 'slow',
    description: 'Waits.',
    execute: async () => new Promise<void>((resolve) => (release = resolve)),
  });
  const quick = tool({ name: 'quick', description: 'Does not.', execute: () => 'done' });
  const session = runAgent(
    parallel({
      name: 'both',
      subAgents: [
        scriptedAgent('tortoise', [{ toolCalls: [{ name: 'slow' }] }, 'There.'], { tools: [slow] }),
        scriptedAgent('hare', [{ toolCalls: [{ name: 'quick' }] }, 'Already there.'], {
          tools: [quick],
        }),
      ],
    }),
  );
  session.send('Go.');
  await session.until('agent.message', 3);
  assert.deepEqual(messages(session.log).slice(-1), ['hare: Already there.']);
  release();
  await session.until('turn.ended');
  assert.deepEqual(messages(session.log).slice(-1), ['tortoise: There.']);
  const ids = session.log.flatMap((event) => (event.type === 'tool.call' ? [event.callId] : []));
  assert.equal(new Set(ids).size, 2);
});

test('a turn with parallel agents waits for approvals when no agent can continue', async () => {
  const remove = tool({
    name: 'remove',
    description: 'Removes.',
    needsApproval: true,
    execute: () => 'gone',
  });
  const script = [{ toolCalls: [{ name: 'remove' }] }, 'Done.'];
  const session = runAgent(
    parallel({
      name: 'both',
      subAgents: [
        scriptedAgent('a', script, { tools: [remove] }),
        scriptedAgent('b', script, { tools: [remove] }),
      ],
    }),
  );
  const events = await session.sendAndWait('Go.');
  const [waits] = events.filter((event) => event.type === 'turn.waiting');
  assert.equal(waits?.callIds.length, 2);
  session.answer(session.parked('b')[0] ?? '', 'approved');
  await session.until('turn.waiting', 2);
  assert.deepEqual(messages(session.log).slice(-1), ['b: Done.']);
  session.answer(session.parked('a')[0] ?? '', 'denied');
  await session.until('turn.ended');
  assert.deepEqual(messages(session.log).slice(-1), ['a: Done.']);
});

test('an interrupt stops all parallel agents in one firing and ends their calls', async () => {
  const hang = tool({ name: 'hang', description: 'Hangs.', execute: () => new Promise(() => {}) });
  const script = [{ toolCalls: [{ name: 'hang' }] }, 'Back.'];
  const session = runAgent(
    parallel({
      name: 'both',
      subAgents: [
        scriptedAgent('a', script, { tools: [hang] }),
        scriptedAgent('b', script, { tools: [hang] }),
      ],
    }),
  );
  const invocationId = session.send('Go.');
  await session.until('tool.call', 2);
  session.interrupt(invocationId);
  await session.until('turn.ended');
  assert.deepEqual(
    session.log.flatMap((event) =>
      event.type === 'tool.result' ? [`${event.author} ${event.outcome}`] : [],
    ),
    ['a unknown', 'b unknown'],
  );
  assert.deepEqual(reasons(await session.sendAndWait('Again.')), ['end_turn']);
});

test('a tool that ends the turn stops the other parallel agents', async () => {
  let stopped = false;
  const hang = tool({
    name: 'hang',
    description: 'Hangs.',
    execute: async (_, { signal }) =>
      new Promise(() => signal.addEventListener('abort', () => (stopped = true))),
  });
  const quit = tool({
    name: 'quit',
    description: 'Ends the turn.',
    execute: (_, { actions }) => actions.endInvocation(),
  });
  const session = runAgent(
    sequential({
      name: 'all',
      subAgents: [
        parallel({
          name: 'both',
          subAgents: [
            scriptedAgent('a', [{ toolCalls: [{ name: 'hang' }] }], { tools: [hang] }),
            scriptedAgent('b', [{ toolCalls: [{ name: 'quit' }] }], { tools: [quit] }),
          ],
        }),
        scriptedAgent('c', ['Never said.']),
      ],
    }),
  );
  const events = await session.sendAndWait('Go.');
  assert.deepEqual(reasons(events), ['end_turn']);
  assert.equal(stopped, true);
  assert.ok(!messages(events).some((text) => text.startsWith('c:')));
});

test('a failed model call ends the turn, and later agents of the sequence do not run', async () => {
  const broken: Model = {
    name: 'broken',
    generate: async () => {
      throw new Error('no luck');
    },
  };
  const events = await runAgent(
    sequential({
      name: 'all',
      subAgents: [agent({ name: 'a', model: broken }), scriptedAgent('b', ['Never said.'])],
    }),
  ).sendAndWait('Go.');
  assert.deepEqual([reasons(events), codes(events)], [['error'], ['model_error']]);
  assert.deepEqual(messages(events), []);
});

test('a loop runs at most maxIterations times', async () => {
  const events = await runAgent(
    loop({
      name: 'round',
      maxIterations: 3,
      subAgents: [
        scriptedAgent('a', ['1', '2', '3', '4']),
        scriptedAgent('b', ['one', 'two', 'three']),
      ],
    }),
  ).sendAndWait('Go.');
  assert.deepEqual(messages(events), ['a: 1', 'b: one', 'a: 2', 'b: two', 'a: 3', 'b: three']);
});

test('escalate() leaves the loop after the current agent, and the enclosing sequence continues', async () => {
  const events = await runAgent(
    sequential({
      name: 'all',
      subAgents: [
        loop({
          name: 'round',
          subAgents: [
            scriptedAgent('writer', ['Draft.', 'Better.', 'Never said.']),
            scriptedAgent('critic', ['No.', { toolCalls: [{ name: 'enough' }] }], {
              tools: [escalateTool],
            }),
            scriptedAgent('printer', ['Printed.', 'Never printed.']),
          ],
        }),
        scriptedAgent('publisher', ['Published.']),
      ],
    }),
  ).sendAndWait('Write.');
  assert.deepEqual(
    messages(events).filter((text) => !text.endsWith(': ')),
    [
      'writer: Draft.',
      'critic: No.',
      'printer: Printed.',
      'writer: Better.',
      'publisher: Published.',
    ],
  );
});

test('escalate() leaves only the innermost loop, through sequential and parallel agents', async () => {
  const events = await runAgent(
    loop({
      name: 'outer',
      maxIterations: 2,
      subAgents: [
        loop({
          name: 'inner',
          maxIterations: 5,
          subAgents: [
            sequential({
              name: 'steps',
              subAgents: [
                parallel({
                  name: 'both',
                  subAgents: [
                    scriptedAgent(
                      'a',
                      [{ toolCalls: [{ name: 'enough' }] }, { toolCalls: [{ name: 'enough' }] }],
                      {
                        tools: [escalateTool],
                      },
                    ),
                    scriptedAgent('b', ['b1', 'b2']),
                  ],
                }),
                scriptedAgent('c', ['c1', 'c2', 'c3']),
              ],
            }),
          ],
        }),
      ],
    }),
  ).sendAndWait('Go.');
  assert.deepEqual(
    messages(events).filter((text) => text.startsWith('c')),
    ['c: c1', 'c: c2'],
  );
});

test('a transfer cancels the other calls of the answer, and the next message goes to the new agent', async () => {
  const payments: string[] = [];
  const pay = tool({ name: 'pay', description: 'Pays.', execute: () => payments.push('paid') });
  const session = runAgent(
    scriptedAgent(
      'triage',
      [{ toolCalls: [{ name: 'pay' }, ...(transferTo('billing').toolCalls ?? [])] }],
      {
        tools: [pay],
        subAgents: [scriptedAgent('billing', ['Billing here.', 'Still here.'])],
      },
    ),
  );
  const events = await session.sendAndWait('My bill.');
  assert.deepEqual(payments, []);
  assert.deepEqual(
    events.flatMap((event) =>
      event.type === 'tool.result' ? [`${event.name} ${event.outcome}`] : [],
    ),
    ['pay cancelled', 'transfer_to_agent ok'],
  );
  const [transferResult] = events.filter(
    (event) => event.type === 'tool.result' && event.name === 'transfer_to_agent',
  );
  assert.deepEqual(transferResult?.type === 'tool.result' && transferResult.actions, {
    transferToAgent: 'billing',
  });
  assert.deepEqual(messages(events).slice(-1), ['billing: Billing here.']);
  assert.deepEqual(messages(await session.sendAndWait('And?')), ['billing: Still here.']);
});

test('a transfer to an unknown agent logs an error, returns it to the model, and the model is called again', async () => {
  const session = runAgent(
    scriptedAgent('triage', [transferTo('nobody'), 'Then I will.'], {
      subAgents: [scriptedAgent('billing', [])],
    }),
  );
  const events = await session.sendAndWait('My bill.');
  assert.deepEqual(codes(events), ['transfer_unknown']);
  assert.deepEqual(messages(events).slice(-1), ['triage: Then I will.']);
  assert.match(session.messages()[2] ?? '', /There is no agent \\"nobody\\"/);
});

test('an agent transfers to sub-agents, its parent and its peers, unless that is disallowed', async () => {
  const unrestricted = runAgent(
    scriptedAgent('root', [transferTo('a'), 'Root again.'], {
      subAgents: [scriptedAgent('a', [transferTo('b')]), scriptedAgent('b', [transferTo('root')])],
    }),
  );
  assert.deepEqual(messages(await unrestricted.sendAndWait('Go.')).slice(-1), [
    'root: Root again.',
  ]);
  const restricted = runAgent(
    scriptedAgent('root', [transferTo('a')], {
      subAgents: [
        scriptedAgent('a', [transferTo('b'), transferTo('root'), 'I stay.'], {
          disallowTransferToPeers: true,
          disallowTransferToParent: true,
          subAgents: [scriptedAgent('c', [])],
        }),
        scriptedAgent('b', ['Never said.']),
      ],
    }),
  );
  const events = await restricted.sendAndWait('Go.');
  assert.deepEqual(codes(events), ['transfer_unknown', 'transfer_unknown']);
  assert.deepEqual(messages(events).slice(-1), ['a: I stay.']);
  // This agent may not transfer to its parent, so the next message starts at the root again.
  assert.equal(restricted.fired().filter((t) => t === 'root/agent.begin').length, 1);
  restricted.send('Again.');
  await restricted.until('turn.started', 2);
  assert.equal(restricted.fired().filter((t) => t === 'root/agent.begin').length, 2);
});

test('after maxTransfers transfers in a turn, an agent gets an error and must answer', async () => {
  const events = await runAgent(
    scriptedAgent('a', [transferTo('b'), transferTo('b'), 'Fine.'], {
      maxTransfers: 2,
      subAgents: [scriptedAgent('b', [transferTo('a'), 'Never said.'])],
    }),
  ).sendAndWait('Go.');
  assert.deepEqual(codes(events), ['transfer_limit']);
  assert.deepEqual(messages(events).slice(-1), ['a: Fine.']);
});

test('a tool transfers the turn after all calls of the answer have results', async () => {
  const transferTool = tool({
    name: 'refer',
    description: 'Refers.',
    execute: (_, { actions }) => actions.transferToAgent('billing'),
  });
  const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' });
  const events = await runAgent(
    scriptedAgent('triage', [{ toolCalls: [{ name: 'refer' }, { name: 'look' }] }], {
      tools: [transferTool, look],
      subAgents: [scriptedAgent('billing', ['Billing here.'])],
    }),
  ).sendAndWait('Go.');
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'tool.result' ? [event.outcome] : [])),
    ['ok', 'ok'],
  );
  assert.deepEqual(messages(events).slice(-1), ['billing: Billing here.']);
  const withoutSubAgents = await runAgent(
    scriptedAgent('triage', [{ toolCalls: [{ name: 'refer' }] }, 'Nobody there.'], {
      tools: [transferTool],
    }),
  ).sendAndWait('Go.');
  assert.deepEqual(codes(withoutSubAgents), ['transfer_unknown']);
  assert.deepEqual(messages(withoutSubAgents).slice(-1), ['triage: Nobody there.']);
});

test('a transfer to a sequential agent runs all its agents, and then the flow around the first agent continues', async () => {
  const events = await runAgent(
    sequential({
      name: 'all',
      subAgents: [
        scriptedAgent('triage', [transferTo('report')], {
          subAgents: [
            sequential({
              name: 'report',
              subAgents: [scriptedAgent('a', ['A.']), scriptedAgent('b', ['B.'])],
            }),
          ],
        }),
        scriptedAgent('last', ['Done.']),
      ],
    }),
  ).sendAndWait('Go.');
  assert.deepEqual(messages(events).slice(1), ['a: A.', 'b: B.', 'last: Done.']);
});

test('a custom agent yields messages, writes state, and runs its sub-agents', async () => {
  const seen: unknown[] = [];
  const session = runAgent(
    custom({
      name: 'boss',
      subAgents: [scriptedAgent('writer', ['Bad.', 'Good.'], { outputKey: 'draft' })],
      async *run(context) {
        const { state: sharedState, run } = context;
        yield 'Let us see.';
        sharedState.set('tries', 0);
        do {
          yield* run('writer');
          sharedState.increment('tries');
          yield `${String(sharedState.get('draft'))} after ${String(sharedState.get('tries'))}`;
          seen.push(sharedState.get('tries'));
        } while (sharedState.get('draft') !== 'Good.');
        seen.push(context.contents.length);
      },
    }),
  );
  const events = await session.sendAndWait('Write.');
  assert.deepEqual(messages(events), [
    'boss: Let us see.',
    'writer: Bad.',
    'boss: Bad. after 1',
    'writer: Good.',
    'boss: Good. after 2',
  ]);
  assert.deepEqual(seen, [1, 2, 6]);
});

test('a custom agent that throws ends the turn with an error, and an endless one ends at maxYields', async () => {
  const throwing = runAgent(
    custom({
      name: 'boss',
      // oxlint-disable-next-line require-yield -- the agent throws before it yields
      async *run() {
        throw new Error('no luck');
      },
    }),
  );
  const failed = await throwing.sendAndWait('Go.');
  assert.deepEqual([codes(failed), reasons(failed)], [['agent_failed'], ['error']]);
  const endless = await runAgent(
    custom({
      name: 'boss',
      maxYields: 3,
      async *run() {
        for (;;) yield 'on';
      },
    }),
  ).sendAndWait('Go.');
  assert.equal(messages(endless).length, 4);
  assert.deepEqual([codes(endless), reasons(endless)], [['yield_limit'], ['budget_reached']]);
});

test('an interrupted custom agent runs its finally block', async () => {
  let cleanedUp = false;
  const { promise: waiting, resolve: waits } = Promise.withResolvers<void>();
  const session = runAgent(
    custom({
      name: 'boss',
      async *run(context) {
        try {
          yield 'Waiting.';
          waits();
          await new Promise<void>((resolve) => {
            context.signal.addEventListener('abort', () => resolve());
          });
        } finally {
          cleanedUp = true;
        }
      },
    }),
  );
  const invocationId = session.send('Go.');
  await waiting;
  session.interrupt(invocationId);
  await session.until('turn.ended');
  assert.deepEqual(reasons(session.log), ['interrupted']);
  await new Promise<void>((resolve) => setImmediate(resolve));
  assert.equal(cleanedUp, true);
});

test('an invalid composition is rejected when the agent is created', () => {
  const a = scriptedAgent('a', []);
  assert.throws(() => sequential({ name: 's', subAgents: [] }), /of "s" must not be empty/);
  assert.throws(() => sequential({ name: 's', subAgents: [a, a] }), /two agents named "a"/);
  assert.throws(() => loop({ name: 'l', subAgents: [a], maxIterations: 0 }), /maxIterations/);
  assert.throws(
    () =>
      parallel({
        name: 'p',
        subAgents: [
          scriptedAgent('x', [], { outputKey: 'same' }),
          sequential({ name: 's', subAgents: [scriptedAgent('y', [], { outputKey: 'same' })] }),
        ],
      }),
    /"same" is used by two concurrent agents in "p"/,
  );
});

test('the invariants reject an agent net without an unknown-agent alternative, or with a tool that can start after the end', () => {
  const { net } = scriptedAgent('a', [], { subAgents: [scriptedAgent('b', [])] });
  const assertRejected = (
    name: string,
    change: (t: Transition) => Transition,
    rule: RegExp,
  ): void =>
    assert.throws(
      () =>
        checkInvariants(
          compile({
            ...net,
            transitions: net.transitions.map((t) => (t.name === name ? change(t) : t)),
          }),
        ),
      (error) => error instanceof InvariantError && rule.test(error.message),
    );
  assertRejected(
    'b/transfer.route',
    (t) => omitAlternatives(t, 'unknown'),
    /"b\/transfer.route" has no alternative for an unknown name/,
  );
  assertRejected(
    'b/tool.run',
    (t) => ({ ...t, unless: [] }),
    /"b\/tool.run" can start after the end/,
  );
});
