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
import { omitAlternatives } from '../../src/agents/vocabulary/omit-outputs.ts';
import { compile, mapIn } from '../../src/net/index.ts';
import type { Transition } from '../../src/net/index.ts';
import { tool } from '../../src/tools/index.ts';
import { runAgent } from './run-agent.ts';

function speaker(
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

/** A model that says what it was shown. */
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

const escalating = tool({
  name: 'enough',
  description: 'Leaves the loop.',
  execute: (_, { actions }) => {
    actions.escalate();
    actions.skipSummarization();
  },
});

test('every kind of agent builds without a warning, keeps every rule, and is one net', () => {
  const kinds: readonly Agent[] = [
    sequential({ name: 'flow', subAgents: [speaker('a', []), speaker('b', [])] }),
    parallel({ name: 'flow', subAgents: [speaker('a', []), speaker('b', [])] }),
    loop({ name: 'flow', subAgents: [speaker('a', []), speaker('b', [])], maxIterations: 3 }),
    custom({ name: 'flow', subAgents: [speaker('a', [])], async *run() {} }),
    speaker('flow', [], { subAgents: [speaker('a', []), speaker('b', [])] }),
    speaker('flow', [], {
      subAgents: [
        sequential({
          name: 's',
          subAgents: [
            parallel({ name: 'p', subAgents: [speaker('a', []), speaker('b', [])] }),
            speaker('c', []),
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

test('a sequence hands on what was said, and what is kept under an output key', async () => {
  const flow = sequential({
    name: 'report',
    subAgents: [
      speaker('writer', ['A draft.'], { outputKey: 'draft' }),
      agent({
        name: 'critic',
        model: echo,
        instruction: ({ state: known }) => `Judge: ${String(known['draft'])}`,
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

test('agents side by side run at once, do not hear each other, and each has its branch', async () => {
  const { promise: both, resolve } = Promise.withResolvers<void>();
  let waiting = 0;
  const meeting: Model = {
    name: 'meeting',
    generate: async (request, context) => {
      if (++waiting === 2) resolve();
      // Neither answers before both were asked.
      await both;
      return echo.generate(request, context);
    },
  };
  const flow = sequential({
    name: 'whole',
    subAgents: [
      parallel({
        name: 'research',
        subAgents: [
          agent({ name: 'physics', model: meeting }),
          agent({ name: 'poetry', model: meeting }),
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

test('tools of one agent do not hold up the agent beside it, and calls of both have ids of their own', async () => {
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
        speaker('tortoise', [{ toolCalls: [{ name: 'slow' }] }, 'There.'], { tools: [slow] }),
        speaker('hare', [{ toolCalls: [{ name: 'quick' }] }, 'Already there.'], { tools: [quick] }),
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

test('two agents side by side wait for a person once both have nothing else to do', async () => {
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
        speaker('a', script, { tools: [remove] }),
        speaker('b', script, { tools: [remove] }),
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

test('an interrupt stops all agents of a turn in one firing, and answers their calls', async () => {
  const hang = tool({ name: 'hang', description: 'Hangs.', execute: () => new Promise(() => {}) });
  const script = [{ toolCalls: [{ name: 'hang' }] }, 'Back.'];
  const session = runAgent(
    parallel({
      name: 'both',
      subAgents: [speaker('a', script, { tools: [hang] }), speaker('b', script, { tools: [hang] })],
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

test('a tool that ends the turn stops the agents beside it', async () => {
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
            speaker('a', [{ toolCalls: [{ name: 'hang' }] }], { tools: [hang] }),
            speaker('b', [{ toolCalls: [{ name: 'quit' }] }], { tools: [quit] }),
          ],
        }),
        speaker('c', ['Never said.']),
      ],
    }),
  );
  const events = await session.sendAndWait('Go.');
  assert.deepEqual(reasons(events), ['end_turn']);
  assert.equal(stopped, true);
  assert.ok(!messages(events).some((text) => text.startsWith('c:')));
});

test('an agent whose model fails ends the turn: those after it do not go on as if nothing had happened', async () => {
  const broken: Model = {
    name: 'broken',
    generate: async () => {
      throw new Error('no luck');
    },
  };
  const events = await runAgent(
    sequential({
      name: 'all',
      subAgents: [agent({ name: 'a', model: broken }), speaker('b', ['Never said.'])],
    }),
  ).sendAndWait('Go.');
  assert.deepEqual([reasons(events), codes(events)], [['error'], ['model_error']]);
  assert.deepEqual(messages(events), []);
});

test('a loop goes round as often as it may', async () => {
  const events = await runAgent(
    loop({
      name: 'round',
      maxIterations: 3,
      subAgents: [speaker('a', ['1', '2', '3', '4']), speaker('b', ['one', 'two', 'three'])],
    }),
  ).sendAndWait('Go.');
  assert.deepEqual(messages(events), ['a: 1', 'b: one', 'a: 2', 'b: two', 'a: 3', 'b: three']);
});

test('an agent that escalates leaves the loop when it is done, and the sequence around it goes on', async () => {
  const events = await runAgent(
    sequential({
      name: 'all',
      subAgents: [
        loop({
          name: 'round',
          subAgents: [
            speaker('writer', ['Draft.', 'Better.', 'Never said.']),
            speaker('critic', ['No.', { toolCalls: [{ name: 'enough' }] }], {
              tools: [escalating],
            }),
            speaker('printer', ['Printed.', 'Never printed.']),
          ],
        }),
        speaker('publisher', ['Published.']),
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

test('escalation is only the inner loop’s, and goes up through a sequence and what is side by side', async () => {
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
                    speaker(
                      'a',
                      [{ toolCalls: [{ name: 'enough' }] }, { toolCalls: [{ name: 'enough' }] }],
                      {
                        tools: [escalating],
                      },
                    ),
                    speaker('b', ['b1', 'b2']),
                  ],
                }),
                speaker('c', ['c1', 'c2', 'c3']),
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

test('a model hands the turn to an agent by name, before every other call, and the next message finds that agent', async () => {
  const paid: string[] = [];
  const pay = tool({ name: 'pay', description: 'Pays.', execute: () => paid.push('paid') });
  const session = runAgent(
    speaker(
      'triage',
      [{ toolCalls: [{ name: 'pay' }, ...(transferTo('billing').toolCalls ?? [])] }],
      {
        tools: [pay],
        subAgents: [speaker('billing', ['Billing here.', 'Still here.'])],
      },
    ),
  );
  const events = await session.sendAndWait('My bill.');
  assert.deepEqual(paid, []);
  assert.deepEqual(
    events.flatMap((event) =>
      event.type === 'tool.result' ? [`${event.name} ${event.outcome}`] : [],
    ),
    ['pay cancelled', 'transfer_to_agent ok'],
  );
  const [done] = events.filter(
    (event) => event.type === 'tool.result' && event.name === 'transfer_to_agent',
  );
  assert.deepEqual(done?.type === 'tool.result' && done.actions, { transferToAgent: 'billing' });
  assert.deepEqual(messages(events).slice(-1), ['billing: Billing here.']);
  assert.deepEqual(messages(await session.sendAndWait('And?')), ['billing: Still here.']);
});

test('an agent that nobody has is an error in the log and a result to the model, which is asked again', async () => {
  const session = runAgent(
    speaker('triage', [transferTo('nobody'), 'Then I will.'], {
      subAgents: [speaker('billing', [])],
    }),
  );
  const events = await session.sendAndWait('My bill.');
  assert.deepEqual(codes(events), ['transfer_unknown']);
  assert.deepEqual(messages(events).slice(-1), ['triage: Then I will.']);
  assert.match(session.messages()[2] ?? '', /There is no agent \\"nobody\\"/);
});

test('the turn goes to sub-agents, back to the parent and to peers, unless that is not allowed', async () => {
  const free = runAgent(
    speaker('root', [transferTo('a'), 'Root again.'], {
      subAgents: [speaker('a', [transferTo('b')]), speaker('b', [transferTo('root')])],
    }),
  );
  assert.deepEqual(messages(await free.sendAndWait('Go.')).slice(-1), ['root: Root again.']);
  const bound = runAgent(
    speaker('root', [transferTo('a')], {
      subAgents: [
        speaker('a', [transferTo('b'), transferTo('root'), 'I stay.'], {
          disallowTransferToPeers: true,
          disallowTransferToParent: true,
          subAgents: [speaker('c', [])],
        }),
        speaker('b', ['Never said.']),
      ],
    }),
  );
  const events = await bound.sendAndWait('Go.');
  assert.deepEqual(codes(events), ['transfer_unknown', 'transfer_unknown']);
  assert.deepEqual(messages(events).slice(-1), ['a: I stay.']);
  // It could not hand the turn back, so the next message is not its own to take.
  assert.equal(bound.fired().filter((t) => t === 'root/agent.begin').length, 1);
  bound.send('Again.');
  await bound.until('turn.started', 2);
  assert.equal(bound.fired().filter((t) => t === 'root/agent.begin').length, 2);
});

test('agents that hand the turn to and fro do so as often as they may, and then must answer', async () => {
  const events = await runAgent(
    speaker('a', [transferTo('b'), transferTo('b'), 'Fine.'], {
      maxTransfers: 2,
      subAgents: [speaker('b', [transferTo('a'), 'Never said.'])],
    }),
  ).sendAndWait('Go.');
  assert.deepEqual(codes(events), ['transfer_limit']);
  assert.deepEqual(messages(events).slice(-1), ['a: Fine.']);
});

test('a tool hands the turn over when all calls of the answer have their results', async () => {
  const refer = tool({
    name: 'refer',
    description: 'Refers.',
    execute: (_, { actions }) => actions.transferToAgent('billing'),
  });
  const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' });
  const events = await runAgent(
    speaker('triage', [{ toolCalls: [{ name: 'refer' }, { name: 'look' }] }], {
      tools: [refer, look],
      subAgents: [speaker('billing', ['Billing here.'])],
    }),
  ).sendAndWait('Go.');
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'tool.result' ? [event.outcome] : [])),
    ['ok', 'ok'],
  );
  assert.deepEqual(messages(events).slice(-1), ['billing: Billing here.']);
  const alone = await runAgent(
    speaker('triage', [{ toolCalls: [{ name: 'refer' }] }, 'Nobody there.'], { tools: [refer] }),
  ).sendAndWait('Go.');
  assert.deepEqual(codes(alone), ['transfer_unknown']);
  assert.deepEqual(messages(alone).slice(-1), ['triage: Nobody there.']);
});

test('a flow is handed the turn like any agent, and is done where the one who handed it over would be', async () => {
  const events = await runAgent(
    sequential({
      name: 'all',
      subAgents: [
        speaker('triage', [transferTo('report')], {
          subAgents: [
            sequential({ name: 'report', subAgents: [speaker('a', ['A.']), speaker('b', ['B.'])] }),
          ],
        }),
        speaker('last', ['Done.']),
      ],
    }),
  ).sendAndWait('Go.');
  assert.deepEqual(messages(events).slice(1), ['a: A.', 'b: B.', 'last: Done.']);
});

test('a custom agent yields what it says, writes state, and gives its agents their turns', async () => {
  const seen: unknown[] = [];
  const session = runAgent(
    custom({
      name: 'boss',
      subAgents: [speaker('writer', ['Bad.', 'Good.'], { outputKey: 'draft' })],
      async *run(context) {
        const { state: known, run } = context;
        yield 'Let us see.';
        known.set('tries', 0);
        do {
          yield* run('writer');
          known.increment('tries');
          yield `${String(known.get('draft'))} after ${String(known.get('tries'))}`;
          seen.push(known.get('tries'));
        } while (known.get('draft') !== 'Good.');
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

test('a custom agent that throws ends the turn with an error, and one that never ends is ended', async () => {
  const throwing = runAgent(
    custom({
      name: 'boss',
      // oxlint-disable-next-line require-yield -- it has nothing to say
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

test('an interrupted custom agent cleans up', async () => {
  let cleaned = false;
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
          cleaned = true;
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
  assert.equal(cleaned, true);
});

test('what cannot be composed is said when the agent is made', () => {
  const a = speaker('a', []);
  assert.throws(() => sequential({ name: 's', subAgents: [] }), /of "s" must not be empty/);
  assert.throws(() => sequential({ name: 's', subAgents: [a, a] }), /two agents named "a"/);
  assert.throws(() => loop({ name: 'l', subAgents: [a], maxIterations: 0 }), /maxIterations/);
  assert.throws(
    () =>
      parallel({
        name: 'p',
        subAgents: [
          speaker('x', [], { outputKey: 'same' }),
          sequential({ name: 's', subAgents: [speaker('y', [], { outputKey: 'same' })] }),
        ],
      }),
    /"same" is used by two concurrent agents in "p"/,
  );
});

test('an agent that breaks a rule of transfers, or begins something after the end, is refused by its arcs alone', () => {
  const { net } = speaker('a', [], { subAgents: [speaker('b', [])] });
  const breaks = (name: string, change: (t: Transition) => Transition, rule: RegExp): void =>
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
  breaks(
    'b/transfer.route',
    (t) => omitAlternatives(t, 'unknown'),
    /"b\/transfer.route" has no alternative for an unknown name/,
  );
  breaks('b/tool.run', (t) => ({ ...t, unless: [] }), /"b\/tool.run" can start after the end/);
});
