import { agent, conversation, sequential, state } from '../../src/agents/index.ts';
import type { ConversationItem } from '../../src/agents/index.ts';
import { outcomeIn, userIn } from '../../src/agents/internal.ts';
import { contentText, userContent } from '../../src/core/index.ts';
import type { LogEntry } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { Model } from '../../src/models/index.ts';
import { listIn, mapIn } from '../../src/net/index.ts';
import type { CrashCase } from './crash-everywhere.ts';
import type { EffectRunner } from './side-effect-world.ts';

/** A model that answers by the messages it is shown, so that a repeated call has the same answer. */
function slow(world: EffectRunner, model: Model): Model {
  return {
    name: model.name,
    generate: async (request, context) => {
      await world.runEffect(context, 5);
      return model.generate(request, context);
    },
  };
}

const grader = (world: EffectRunner): Model =>
  slow(
    world,
    new ScriptedModel(({ contents }) => ({
      text: contentText(contents[0]).includes('draft 1')
        ? '{"result":"satisfied","explanation":"Good."}'
        : '{"result":"needs_revision","explanation":"Again."}',
    })),
  );

const writer = (world: EffectRunner): Model =>
  slow(
    world,
    new ScriptedModel(({ contents }) => ({
      text: `draft ${contents.filter((one) => contentText(one).includes('Revise it.')).length}`,
    })),
  );

const outcomeFields = {
  outcomeId: 'o1',
  description: 'A story.',
  maxIterations: 3,
  completeWhenSatisfied: false,
};

const outcome: CrashCase['inputs'][number] = {
  at: 0,
  place: outcomeIn.name,
  value: { ...outcomeFields, startsNow: true },
};

const readOutcome: CrashCase['outcome'] = (marking, outlets) => [
  listIn(marking, conversation.name)
    .items.map((item) => contentText((item as unknown as ConversationItem).content))
    .filter((text) => text.startsWith('draft')),
  outlets.map(({ value }) => (value as unknown as LogEntry).type).join(' '),
  [...marking.tokens.keys()],
  mapIn(marking, state.name),
];

/** A goal for an agent: work, judgment, a revision, judgment. */
export const outcomeTurn: CrashCase = {
  name: 'the outcome of an agent',
  inputs: [outcome],
  outcome: readOutcome,
  expected: [
    ['draft 0', 'draft 1'],
    'outcome.defined user.message turn.started agent.message outcome.evaluated agent.message outcome.evaluated outcome.ended turn.ended',
    ['turn.permit'],
    {},
  ],
  net: (world) =>
    agent({ name: 'writer', model: writer(world), outcomes: { grader: grader(world) } }).net,
};

/** A goal for a sequence of two agents: each revision runs both. */
export const outcomeOfAgents: CrashCase = {
  name: 'the outcome of a sequence',
  inputs: [outcome],
  outcome: readOutcome,
  expected: [
    ['draft 0', 'draft 0', 'draft 1', 'draft 1'],
    'outcome.defined user.message turn.started agent.message agent.message outcome.evaluated agent.message agent.message outcome.evaluated outcome.ended turn.ended',
    ['turn.permit'],
    {},
  ],
  net: (world) =>
    sequential({
      name: 'steps',
      subAgents: ['one', 'two'].map((name) => agent({ name, model: writer(world) })),
      outcomes: { grader: grader(world) },
    }).net,
};

const message = (id: string, at: number): CrashCase['inputs'][number] => ({
  at,
  place: userIn.name,
  value: { messageId: id, invocationId: `e-${id}`, content: userContent(id) },
});

const plainTurn = 'user.message turn.started agent.message turn.ended';

/** A goal that arrives between two messages, while the turn of the first one runs. It judges its own turn only. */
export const queuedOutcome: CrashCase = {
  ...outcomeTurn,
  name: 'the outcome of an agent behind a message',
  inputs: [message('a', 0), { ...outcome, at: 2 }, message('b', 2)],
  expected: [
    ['draft 0', 'draft 0', 'draft 1', 'draft 1'],
    `${plainTurn} user.message turn.started outcome.defined agent.message outcome.evaluated agent.message outcome.evaluated outcome.ended turn.ended ${plainTurn}`,
    ['turn.permit'],
    {},
  ],
};

/** Criteria that arrive between messages, while a turn runs. They judge the turn of the first message after them. */
export const queuedCriteria: CrashCase = {
  ...outcomeTurn,
  name: 'the criteria of an agent behind messages',
  inputs: [
    message('a', 0),
    message('b', 1),
    { ...outcome, at: 2, value: { ...outcomeFields, startsNow: false } },
    message('c', 2),
  ],
  expected: [
    ['draft 0', 'draft 0', 'draft 0', 'draft 1'],
    `${plainTurn} ${plainTurn} outcome.defined user.message turn.started agent.message outcome.evaluated agent.message outcome.evaluated outcome.ended turn.ended`,
    ['turn.permit'],
    {},
  ],
};
