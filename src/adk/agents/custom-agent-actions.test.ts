import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeContext } from '../../agents/index.ts';
import { createEventActions, contentText } from '../../core/index.ts';
import type { Event, EventActions } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { BaseAgent } from './base-agent.ts';
import type { AgentYield } from './base-agent.ts';
import type { CallbackContext } from '../contracts/contexts.ts';
import { Event as createEvent } from './event.ts';
import { InMemoryRunner } from '../runner/in-memory-runner.ts';
import { LlmAgent } from './llm-agent.ts';
import { LoopAgent } from './loop-agent.ts';
import { SequentialAgent } from './sequential-agent.ts';
import { Workflow } from '../workflow/workflow.ts';

const sessionIds = { userId: 'u1', sessionId: 's1' } as const;
const address = { appName: 'demo', ...sessionIds } as const;

type Context = Parameters<BaseAgent['runAsync']>[0];

/** An agent that yields the items of a generator. */
class Acting extends BaseAgent {
  readonly #steps: (context: Context) => Iterable<AgentYield> | AsyncIterable<AgentYield>;

  constructor(
    config: ConstructorParameters<typeof BaseAgent>[0] | string,
    steps: (context: Context) => Iterable<AgentYield> | AsyncIterable<AgentYield>,
  ) {
    super(typeof config === 'string' ? { name: config } : config);
    this.#steps = steps;
  }

  protected override async *runAsyncImpl(
    context: Context,
  ): AsyncGenerator<AgentYield, void, never> {
    yield* this.#steps(context);
  }
}

const scriptedAgent = (name: string, text: string): LlmAgent =>
  new LlmAgent({ name, model: new ScriptedModel(() => ({ text })) });

async function run(agent: BaseAgent) {
  await using runner = new InMemoryRunner({ appName: 'demo', agent });
  await runner.sessionService.createSession(address);
  const events = await runner.run({ ...sessionIds, newMessage: 'Go' });
  const session = await runner.sessionService.getSession(address);
  return { events, state: session?.state ?? {} };
}

/** A short form of an event's content and actions. */
function short({ author, content, actions, errorMessage }: Event): string {
  const { stateDelta, artifactDelta, ...rest } = actions;
  const set = Object.fromEntries(
    Object.entries({ ...rest, stateDelta, artifactDelta }).filter(
      ([, value]) => typeof value !== 'object' || Object.keys(value).length > 0,
    ),
  );
  const acts = Object.keys(set).length === 0 ? '' : ` ${JSON.stringify(set)}`;
  return `${author}: ${errorMessage ?? contentText(content)}${acts}`;
}

describe('a custom agent that yields only actions', () => {
  it('writes state, and reads it after the yield', async () => {
    const seen: unknown[] = [];
    const { events, state } = await run(
      new Acting('writer', function* (context) {
        yield { actions: { stateDelta: { step: 'a', 'user:lang': 'en', 'temp:x': 1 } } };
        seen.push(context.state.get('step'), context.state.get('temp:x'));
        yield { actions: createEventActions({ stateDelta: { step: 'b' } }) };
        seen.push(context.state.get('step'));
      }),
    );
    assert.deepEqual(events.map(short), [
      'writer:  {"stateDelta":{"step":"a","user:lang":"en"}}',
      'writer:  {"stateDelta":{"step":"b"}}',
    ]);
    assert.deepEqual(seen, ['a', 1, 'b']);
    assert.deepEqual(state, { step: 'b', 'user:lang': 'en' });
  });

  it('ends the enclosing loop with escalate', async () => {
    let round = 0;
    const { events } = await run(
      new LoopAgent({
        name: 'refine',
        maxIterations: 5,
        subAgents: [
          scriptedAgent('writer', 'A draft.'),
          new Acting('checker', function* () {
            yield { actions: { escalate: ++round === 2 } };
          }),
        ],
      }),
    );
    assert.deepEqual(events.map(short), [
      'writer: A draft.',
      'writer: A draft.',
      'checker:  {"escalate":true}',
    ]);
  });

  it('reports the artifacts it saved, and the widgets to render', async () => {
    const { events } = await run(
      new Acting('saver', async function* (context) {
        const version = await context.artifacts.save('a.txt', { text: 'A' });
        yield { actions: { artifactDelta: { 'b.txt': 3 } } };
        yield { actions: { renderUiWidgets: [{ id: 'w', provider: 'mcp', payload: {} }] } };
        assert.equal(version, 0);
      }),
    );
    assert.deepEqual(events.map(short), [
      'saver:  {"artifactDelta":{"a.txt":0,"b.txt":3}}',
      'saver:  {"renderUiWidgets":[{"id":"w","provider":"mcp","payload":{}}]}',
    ]);
  });

  it('ends its own run with endOfAgent, and the invocation with endInvocation', async () => {
    const went: string[] = [];
    const ends = (actions: Partial<EventActions> & { readonly endInvocation?: boolean }) =>
      new SequentialAgent({
        name: 'both',
        subAgents: [
          new Acting('first', function* () {
            yield { actions };
            went.push('further');
            yield 'Not heard.';
          }),
          scriptedAgent('second', 'Next.'),
        ],
      });
    const afterEndOfAgent = await run(ends({ endOfAgent: true }));
    assert.deepEqual(afterEndOfAgent.events.map(short), [
      'first:  {"endOfAgent":true}',
      'second: Next.',
    ]);
    const afterEndInvocation = await run(ends({ endInvocation: true }));
    assert.deepEqual(afterEndInvocation.events.map(short), []);
    assert.deepEqual(went, []);
  });

  it('can yield empty actions', async () => {
    const { events } = await run(
      new Acting('idle', function* () {
        yield {};
        yield { actions: createEventActions() };
        yield { content: { role: 'model', parts: [] } };
        yield 'Done.';
      }),
    );
    assert.deepEqual(events.map(short), ['idle: Done.']);
  });
});

describe('actions with text', () => {
  it('are in the event that has the text', async () => {
    const { events, state } = await run(
      new Acting('speaker', function* () {
        yield {
          content: { role: 'model', parts: [{ text: 'Here.' }] },
          actions: { skipSummarization: true, artifactDelta: { 'a.txt': 1 }, stateDelta: { n: 1 } },
        };
      }),
    );
    assert.deepEqual(events.map(short).toSorted(), [
      'speaker:  {"stateDelta":{"n":1}}',
      'speaker: Here. {"skipSummarization":true,"artifactDelta":{"a.txt":1}}',
    ]);
    assert.deepEqual(state, { n: 1 });
  });

  it('of Event(), such as output and route, are in the log', async () => {
    const { events } = await run(
      new Acting('giver', function* () {
        yield createEvent({
          message: 'Hm.',
          output: { n: 1 },
          route: 'left',
          state: { seen: true },
        });
      }),
    );
    const messageEvent = events.find(({ content }) => content !== undefined);
    assert.deepEqual(
      [contentText(messageEvent?.content), messageEvent?.output, messageEvent?.actions.route],
      ['Hm.', { n: 1 }, 'left'],
    );
  });
});

describe('a custom agent that transfers', () => {
  it('to a sub-agent continues as that agent', async () => {
    const went: string[] = [];
    const { events } = await run(
      new Acting(
        { name: 'desk', subAgents: [scriptedAgent('a', 'From a.'), scriptedAgent('b', 'From b.')] },
        function* () {
          yield {
            content: { role: 'model', parts: [{ text: 'b knows.' }] },
            actions: { transferToAgent: 'b' },
          };
          went.push('further');
          yield 'Not heard.';
        },
      ),
    );
    assert.deepEqual(events.map(short), ['desk: b knows. {"transferToAgent":"b"}', 'b: From b.']);
    assert.deepEqual(went, []);
  });

  it('to its parent or a peer works where model transfers work', async () => {
    const desk = (to: string) =>
      new LlmAgent({
        name: 'boss',
        model: new ScriptedModel(({ contents }) =>
          contents.length === 1
            ? { toolCalls: [{ name: 'transfer_to_agent', args: { agent_name: 'desk' } }] }
            : { text: 'From the boss.' },
        ),
        subAgents: [
          new Acting('desk', function* () {
            yield { actions: { transferToAgent: to } };
          }),
          scriptedAgent('peer', 'From the peer.'),
        ],
      });
    const words = async (to: string) =>
      (await run(desk(to))).events.map(short).filter((line) => !line.startsWith('boss: {'));
    assert.deepEqual((await words('peer')).slice(-2), [
      'desk:  {"transferToAgent":"peer"}',
      'peer: From the peer.',
    ]);
    assert.deepEqual((await words('boss')).slice(-2), [
      'desk:  {"transferToAgent":"boss"}',
      'boss: From the boss.',
    ]);
  });

  it('repeatedly is stopped at the limit of transfers', async () => {
    const pass = (name: string, to: string) =>
      new Acting(name, function* () {
        yield { actions: { transferToAgent: to } };
      });
    const boss = new LlmAgent({
      name: 'boss',
      model: new ScriptedModel(() => ({
        toolCalls: [{ name: 'transfer_to_agent', args: { agent_name: 'ping' } }],
      })),
      subAgents: [pass('ping', 'pong'), pass('pong', 'ping')],
    });
    const { events } = await run(boss);
    assert.equal(events.at(-2)?.errorCode, 'transfer_limit');
    assert.equal(events.at(-1)?.stopReason, 'budget_reached');
    assert.ok(events.length < 20, String(events.length));
  });

  it('to an unknown agent gets an error that lists the possible targets', async () => {
    const { events } = await run(
      new Acting({ name: 'desk', subAgents: [scriptedAgent('a', '')] }, function* () {
        yield { actions: { transferToAgent: 'nobody' } };
      }),
    );
    assert.match(events.at(-1)?.errorMessage ?? '', /no agent "nobody".*The agents are: a\./s);
  });
});

describe('an unsupported yield', () => {
  const refused: readonly (readonly [string, object])[] = [
    ['requestedToolConfirmations', { requestedToolConfirmations: { c1: { hint: 'Sure?' } } }],
    ['requestedAuthConfigs', { requestedAuthConfigs: { c1: { authScheme: {} } } }],
    ['rewindBeforeInvocationId', { rewindBeforeInvocationId: 'e-1' }],
    ['compaction', { compaction: { startTimestamp: 0, endTimestamp: 1, compactedContent: {} } }],
    ['escalte', { escalte: true }],
    ['transferToAgent', { transferToAgent: 7 }],
    ['artifactDelta', { artifactDelta: { 'a.txt': '0' } }],
    ['stateDelta', { stateDelta: { 'a/b': 1 } }],
  ];
  for (const [name, actions] of refused)
    it(`is rejected by name: ${name}`, async () => {
      const { events, state } = await run(
        new Acting('actor', function* () {
          yield { actions: { stateDelta: { before: 1 } } };
          yield { actions: { stateDelta: { with: 1 }, ...actions } };
        }),
      );
      assert.equal(events.at(-1)?.errorCode, 'agent_failed');
      assert.match(events.at(-1)?.errorMessage ?? '', new RegExp(name));
      assert.deepEqual(state, { before: 1 });
    });

  it('is also rejected beside actions: a partial, or a misspelled field', async () => {
    for (const event of [
      { content: { role: 'model', parts: [{ text: 'x' }] }, partial: true },
      { contnt: 1 },
    ]) {
      const { events } = await run(
        new Acting('actor', function* () {
          yield event as AgentYield;
        }),
      );
      assert.match(events.at(-1)?.errorMessage ?? '', /partial|contnt/);
    }
  });
});

describe('a workflow', () => {
  it('uses the route and the output that an agent node yields', async () => {
    const judge = new Acting('judge', function* () {
      yield createEvent({ output: { score: 7 }, route: 'good' });
    });
    const { events } = await run(
      new Workflow({
        name: 'flow',
        edges: [
          [
            'START',
            judge,
            {
              good: function publish(_: unknown, input: unknown) {
                return `Published ${JSON.stringify(input)}`;
              },
              bad: function drop() {
                return 'Dropped';
              },
            },
          ],
        ],
      }),
    );
    assert.equal(contentText(events.at(-1)?.content), 'Published {"score":7}');
  });

  it('applies the actions that a function node returns', async () => {
    const { events, state } = await run(
      new Workflow({
        name: 'flow',
        edges: [
          [
            'START',
            function act() {
              return createEvent({
                message: 'Kept.',
                state: { a: 1 },
                actions: { stateDelta: { b: 2 }, artifactDelta: { 'a.txt': 0 }, route: 'on' },
              });
            },
            {
              on: function* last() {
                yield createEvent({ actions: { stateDelta: { c: 3 } } });
                yield createEvent({ actions: { endInvocation: true } });
                yield 'Not heard.';
              },
            },
          ],
        ],
      }),
    );
    assert.deepEqual(state, { a: 1, b: 2, c: 3 });
    const messageEvent = events.find(({ content }) => contentText(content) === 'Kept.');
    assert.deepEqual(messageEvent?.actions.artifactDelta, { 'a.txt': 0 });
    assert.ok(events.every(({ content }) => contentText(content) !== 'Not heard.'));
  });

  it('reports the artifacts that a function node saved in the event of its output', async () => {
    const { events } = await run(
      new Workflow({
        name: 'flow',
        edges: [
          [
            'START',
            async function save(context: NodeContext) {
              await context.artifacts.save('a.txt', { text: 'A' });
              return 'Saved.';
            },
          ],
        ],
      }),
    );
    assert.deepEqual(events.map(short), ['save: Saved. {"artifactDelta":{"a.txt":0}}']);
  });

  it('rejects by name the actions that function nodes do not support', async () => {
    const { events } = await run(
      new Workflow({
        name: 'flow',
        edges: [
          [
            'START',
            function act() {
              return createEvent({ actions: { transferToAgent: 'x' } });
            },
          ],
        ],
      }),
    );
    assert.match(events.at(-1)?.errorMessage ?? '', /transferToAgent/);
  });
});

describe('a callback of an agent or its model', () => {
  for (const kind of [
    'beforeAgentCallback',
    'afterAgentCallback',
    'beforeModelCallback',
    'afterModelCallback',
  ] as const)
    it(`gets an error for a transfer: ${kind}`, async () => {
      const transfer = (given: CallbackContext | { readonly context: CallbackContext }) => {
        const { actions } = 'context' in given ? given.context : given;
        actions.transferToAgent('b');
        return undefined;
      };
      const agent = new LlmAgent({
        name: 'a',
        model: new ScriptedModel(() => ({ text: 'From a.' })),
        subAgents: [scriptedAgent('b', 'From b.')],
        [kind]: transfer,
      });
      const { events } = await run(agent);
      assert.equal(
        events.some(({ author }) => author === 'b'),
        false,
      );
      assert.match(events.at(-1)?.errorMessage ?? '', /actions\.transferToAgent/);
    });
});
