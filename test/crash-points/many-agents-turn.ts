import * as z from 'zod';
import {
  agent,
  conversation,
  custom,
  parallel,
  sequential,
  state,
  userIn,
} from '../../src/agents/index.ts';
import type { ConversationItem } from '../../src/agents/index.ts';
import { deriveInvocationId, contentText, userContent } from '../../src/core/index.ts';
import type { LogEntry } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { Model, ScriptedTurn } from '../../src/models/index.ts';
import { listIn, mapIn } from '../../src/net/index.ts';
import { tool } from '../../src/tools/index.ts';
import type { CrashCase } from './crash-everywhere.ts';

/** The authors and texts of the messages. Parallel agents may come in any order. */
function formatItem({ author, content }: ConversationItem): string {
  return `${author ?? content.role}: ${contentText(content)}`;
}

/** True if each call ran with the arguments of the guard, both in the log and in its result. */
function stand(entries: readonly LogEntry[]): boolean {
  return entries.every(
    (entry) =>
      entry.type !== 'tool.result' ||
      entry.name !== 'add' ||
      entries.some(
        (call) =>
          call.type === 'tool.call' &&
          call.callId === entry.callId &&
          call.args['b'] === (entry.response as { readonly b?: number }).b,
      ),
  );
}

/**
 * A turn of many agents: two in parallel, one of which has a tool whose calls a guard changes; then one that transfers
 * the turn; then a generator that runs one of its agents. The decision of the guard is random, so asking it twice would
 * give another answer.
 */
export const manyAgentsTurn: CrashCase = {
  name: 'the turn of many agents',
  inputs: [
    {
      at: 0,
      place: userIn.name,
      value: {
        messageId: 'm1',
        invocationId: deriveInvocationId('m1'),
        content: userContent('Add.'),
      },
    },
  ],
  outcome: (marking, outlets) => {
    const entries = outlets.map(({ value }) => value as unknown as LogEntry);
    return [
      listIn(marking, conversation.name)
        .items.map((item) => formatItem(item as unknown as ConversationItem))
        .toSorted(),
      entries
        .map(({ type }) => type)
        .toSorted()
        .join(' '),
      stand(entries),
      mapIn(marking, state.name),
      [...marking.tokens.keys()],
    ];
  },
  expected: [
    [
      'adder: ',
      'adder: Added.',
      'adder: Adding.',
      'billing: Billed.',
      'boss: Again? false',
      'boss: Once.',
      'clerk: Noted 1.',
      'poet: A sum is a rhyme.',
      'triage: ',
      'triage: ',
      'user: Add.',
    ],
    'agent.message agent.message agent.message agent.message agent.message agent.message agent.message agent.message state.changed tool.call tool.call tool.result tool.result turn.ended turn.started user.message',
    true,
    { draft: 'A sum is a rhyme.', runs: 1 },
    ['turn.permit'],
  ],
  net: (world) => {
    const model = (ms: number, turns: readonly ScriptedTurn[]): Model => {
      const scripted = new ScriptedModel(turns);
      return {
        name: 'scripted',
        generate: async (...[request, context]: Parameters<ScriptedModel['generate']>) => {
          await world.runEffect(context, ms);
          return scripted.generate(request, context);
        },
      };
    };
    const add = tool({
      name: 'add',
      description: 'Adds.',
      parameters: z.object({ a: z.number(), b: z.number() }),
      readOnly: true,
      execute: async ({ a, b }, context) => {
        await world.runEffect(context, 10);
        return { sum: a + b, b };
      },
    });
    let decisions = 0;
    const adder = agent({
      name: 'adder',
      model: model(5, [
        { text: 'Adding.', toolCalls: [{ name: 'add', args: { a: 1, b: 2 } }] },
        { text: 'Added.' },
      ]),
      tools: [add],
      callbacks: {
        beforeTool: async (context, { args }) => {
          await world.runEffect(context, 3);
          return { args: { ...args, b: ++decisions } };
        },
        beforeModel: async (context) => {
          await world.runEffect(context, 2);
          return undefined;
        },
      },
    });
    const poet = agent({
      name: 'poet',
      model: model(7, [{ text: 'A sum is a rhyme.' }]),
      outputKey: 'draft',
    });
    const billing = agent({ name: 'billing', model: model(4, [{ text: 'Billed.' }]) });
    const triage = agent({
      name: 'triage',
      model: model(6, [
        { toolCalls: [{ name: 'transfer_to_agent', args: { agent_name: 'billing' } }] },
      ]),
      subAgents: [billing],
    });
    const clerk = agent({
      name: 'clerk',
      model: model(4, [{ text: 'Noted 1.' }, { text: 'Noted 2.' }]),
    });
    const boss = custom({
      name: 'boss',
      subAgents: [clerk],
      async *run(context) {
        context.state.increment('runs');
        yield 'Once.';
        yield* context.run('clerk');
        yield `Again? ${context.state.get('runs') !== 1}`;
      },
    });
    return sequential({
      name: 'all',
      subAgents: [parallel({ name: 'both', subAgents: [adder, poet] }), triage, boss],
    }).net;
  },
};
