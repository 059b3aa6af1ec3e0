import {
  agent,
  conversation,
  loop,
  parallel,
  sequential,
  state,
  userIn,
} from '../../src/agents/index.ts';
import type { AgentDefinition, Agent, ConversationItem } from '../../src/agents/index.ts';
import { resumeIn } from '../../src/agents/internal.ts';
import { contentText, deriveInvocationId, userContent } from '../../src/core/index.ts';
import type { LogEntry } from '../../src/core/index.ts';
import { ModelError, ScriptedModel } from '../../src/models/index.ts';
import type { ScriptedTurn } from '../../src/models/index.ts';
import { listIn, mapIn } from '../../src/net/index.ts';
import { tool } from '../../src/tools/index.ts';
import type { CrashCase } from './crash-everywhere.ts';
import type { EffectRunner } from './side-effect-world.ts';

/** The provider of the models that may fail is down until then. */
const UP_AGAIN_AT = 1_000;

const message = { at: 0, place: userIn.name, value: {} };
const input: CrashCase['inputs'] = [
  {
    ...message,
    value: { messageId: 'm1', invocationId: deriveInvocationId('m1'), content: userContent('Go.') },
  },
  { at: 2 * UP_AGAIN_AT, place: resumeIn.name, value: null },
];

/** The messages of the agents, the types of the events, the places with tokens, and state. */
const readOutcome: CrashCase['outcome'] = (marking, outlets) => [
  listIn(marking, conversation.name)
    .items.map((item) => item as unknown as ConversationItem)
    .map(({ author, content }) => `${author ?? content.role}: ${contentText(content)}`)
    .filter((text) => !text.endsWith(': ')),
  outlets.map(({ value }) => (value as unknown as LogEntry).type).join(' '),
  [...marking.tokens.keys()],
  mapIn(marking, state.name),
];

/** An agent with a scripted model, whose answer with the number `failing` cannot be had while the provider is down. */
function scripted(
  world: EffectRunner,
  name: string,
  turns: readonly ScriptedTurn[],
  { failing, ms = 5, ...more }: Partial<AgentDefinition> & { failing?: number; ms?: number } = {},
): Agent {
  const model = new ScriptedModel(turns);
  return agent({
    name,
    modelAttempts: 1,
    model: {
      name: 'scripted',
      generate: async (request, context) => {
        await world.runEffect(context, ms);
        const answered = request.contents.filter(({ role }) => role === 'model').length;
        if (answered === failing && world.now() < UP_AGAIN_AT)
          throw new ModelError({ model: 'scripted', kind: 'overloaded', message: 'It is down.' });
        return model.generate(request, context);
      },
    },
    ...more,
  });
}

const failed = 'error turn.ended session.resumed turn.started';

/** The second agent of a sequence fails: the first one does not run again. */
export const failedSequence: CrashCase = {
  name: 'a sequence whose second agent failed',
  inputs: input,
  outcome: readOutcome,
  expected: [
    ['user: Go.', 'one: First.', 'two: Second.', 'three: Third.'],
    `user.message turn.started agent.message ${failed} agent.message agent.message turn.ended`,
    ['turn.permit'],
    {},
  ],
  net: (world) =>
    sequential({
      name: 'steps',
      subAgents: [
        scripted(world, 'one', [{ text: 'First.' }]),
        scripted(world, 'two', [{ text: 'Second.' }], { failing: 0 }),
        scripted(world, 'three', [{ text: 'Third.' }]),
      ],
    }).net,
};

/** A loop fails in its second iteration: the first one counts. */
export const failedLoop: CrashCase = {
  name: 'a loop that failed in its second iteration',
  inputs: input,
  outcome: readOutcome,
  expected: [
    ['user: Go.', 'worker: Draft 1.', 'worker: Draft 2.', 'worker: Draft 3.'],
    `user.message turn.started agent.message ${failed} agent.message agent.message turn.ended`,
    ['turn.permit'],
    {},
  ],
  net: (world) =>
    loop({
      name: 'again',
      maxIterations: 3,
      subAgents: [
        scripted(
          world,
          'worker',
          [1, 2, 3, 4].map((n) => ({ text: `Draft ${n}.` })),
          { failing: 1 },
        ),
      ],
    }).net,
};

/**
 * One of four parallel agents fails: another is done, another waits for a model, and another runs a tool, whose call is
 * cancelled.
 */
export const failedParallel: CrashCase = {
  name: 'a parallel agent that failed beside others',
  inputs: input,
  outcome: (marking, outlets) => {
    const [items, types, ...rest] = readOutcome(marking, outlets) as [string[], string];
    return [items.toSorted(), types.split(' ').toSorted(), ...rest];
  },
  expected: [
    [
      'done: Done.',
      'failing: Failing no more.',
      'last: All together.',
      'slow: Slow.',
      'user: Go.',
      'worker: It was cancelled.',
    ],
    `user.message turn.started agent.message tool.call agent.message tool.result ${failed} agent.message agent.message agent.message agent.message turn.ended`
      .split(' ')
      .toSorted(),
    ['turn.permit'],
    { answer: 'Failing no more.' },
  ],
  net: (world) =>
    sequential({
      name: 'all',
      subAgents: [
        parallel({
          name: 'together',
          subAgents: [
            scripted(world, 'done', [{ text: 'Done.' }], { ms: 2 }),
            scripted(world, 'failing', [{ text: 'Failing no more.' }], {
              failing: 0,
              ms: 20,
              outputKey: 'answer',
            }),
            scripted(world, 'slow', [{ text: 'Slow.' }], { ms: 50 }),
            scripted(
              world,
              'worker',
              [{ toolCalls: [{ name: 'work' }] }, { text: 'It was cancelled.' }],
              {
                tools: [
                  tool({
                    name: 'work',
                    description: 'Works.',
                    readOnly: true,
                    execute: async (_, context) => {
                      await world.runEffect(context, 100);
                      return 'worked';
                    },
                  }),
                ],
              },
            ),
          ],
        }),
        scripted(world, 'last', [{ text: 'All together.' }]),
      ],
    }).net,
};

/** An agent that took the turn over fails: the callbacks of the agent that transferred the turn run once, after it. */
export const failedTransfer: CrashCase = {
  name: 'an agent that failed after a transfer',
  inputs: input,
  outcome: readOutcome,
  expected: [
    ['user: Go.', 'billing: Billed.', 'triage: Was it good?'],
    `user.message turn.started agent.message tool.call tool.result ${failed} agent.message agent.message turn.ended`,
    ['turn.permit'],
    {},
  ],
  net: (world) =>
    scripted(
      world,
      'triage',
      [{ toolCalls: [{ name: 'transfer_to_agent', args: { agent_name: 'billing' } }] }],
      {
        subAgents: [scripted(world, 'billing', [{ text: 'Billed.' }], { failing: 0 })],
        callbacks: { afterAgent: () => ({ role: 'model', parts: [{ text: 'Was it good?' }] }) },
      },
    ).net,
};
