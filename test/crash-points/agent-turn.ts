import * as z from 'zod';
import { agent, conversation, state, userIn } from '../../src/agents/index.ts';
import type { ConversationItem } from '../../src/agents/index.ts';
import { eventIn } from '../../src/agents/internal.ts';
import { createEventActions, deriveInvocationId, userContent } from '../../src/core/index.ts';
import type { LogEntry, Part } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { listIn, mapIn } from '../../src/net/index.ts';
import type { OutletValue } from '../../src/net/engine/check-outputs.ts';
import { tool } from '../../src/tools/index.ts';
import type { CrashCase } from './crash-everywhere.ts';

const message = (messageId: string, text: string): unknown => ({
  messageId,
  invocationId: deriveInvocationId(messageId),
  content: userContent(text),
});

/** The visible text of the conversation. */
function getText({ content }: ConversationItem): string {
  const getVisibleText = (part: Part): string => {
    if ('text' in part) return part.text;
    if ('functionCall' in part) return `${part.functionCall.name}?`;
    return 'functionResponse' in part ? JSON.stringify(part.functionResponse.response) : '';
  };
  return `${content.role}: ${content.parts.map(getVisibleText).join(' ')}`;
}

const appended = (text: string): unknown => ({
  event: {
    id: text,
    timestamp: 1,
    invocationId: `e-${text}`,
    author: 'crm',
    content: userContent(text),
    actions: createEventActions(),
  },
  stateDelta: { [text]: true },
});

/**
 * The turn of an agent: message, model, two parallel tools, model, answer; and a second message that arrives meanwhile.
 * The model and the tools may run again, so a crash is visible only in the attempts.
 */
export const agentTurn: CrashCase = {
  name: 'the turn of an agent',
  inputs: [
    { at: 0, place: userIn.name, value: message('m1', 'Add.') },
    { at: 12, place: userIn.name, value: message('m2', 'Thanks.') },
  ],
  outcome: (marking, outlets) => [
    listIn(marking, conversation.name).items.map((item) =>
      getText(item as unknown as ConversationItem),
    ),
    outlets.map(({ value }) => (value as unknown as LogEntry).type).join(' '),
    [...marking.tokens.keys()],
  ],
  expected: [
    [
      'user: Add.',
      'model: Adding. add? add?',
      'tool: {"result":3} {"result":7}',
      'model: Three and seven.',
      'user: Thanks.',
      'model: You are welcome.',
    ],
    'user.message turn.started agent.message tool.call tool.call tool.result tool.result agent.message turn.ended user.message turn.started agent.message turn.ended',
    ['turn.permit'],
  ],
  net: (world) => {
    const scripted = new ScriptedModel([
      {
        text: 'Adding.',
        toolCalls: [
          { name: 'add', args: { a: 1, b: 2 } },
          { name: 'add', args: { a: 3, b: 4 } },
        ],
      },
      { text: 'Three and seven.' },
      { text: 'You are welcome.' },
    ]);
    const add = tool({
      name: 'add',
      description: 'Adds.',
      parameters: z.object({ a: z.number(), b: z.number() }),
      readOnly: true,
      execute: async ({ a, b }, context) => {
        await world.runEffect(context, 10 * a);
        return a + b;
      },
    });
    const model = {
      name: 'scripted',
      generate: async (...[request, context]: Parameters<ScriptedModel['generate']>) => {
        await world.runEffect(context, 5);
        return scripted.generate(request, context);
      },
    };
    return agent({ name: 'assistant', model, tools: [add] }).net;
  },
};

/** The same turn, while a program appends an event: during its tools, and after its end. */
export const appendedTurn: CrashCase = {
  ...agentTurn,
  name: 'the turn of an agent, and events from outside',
  inputs: [
    { at: 0, place: userIn.name, value: message('m1', 'Add.') },
    { at: 12, place: eventIn.name, value: appended('paid') },
    { at: 200, place: eventIn.name, value: appended('shipped') },
    { at: 200, place: userIn.name, value: message('m2', 'Thanks.') },
  ],
  outcome: (marking, outlets) => {
    const isAppended = ({ value }: OutletValue): boolean =>
      (value as unknown as LogEntry).type === 'event.appended';
    return [
      // A crash delays the turn and not the event, so the event may be logged earlier in the turn.
      agentTurn.outcome(
        marking,
        outlets.filter((one) => !isAppended(one)),
      ),
      outlets.filter(isAppended).length,
      mapIn(marking, state.name),
    ];
  },
  expected: [
    [
      [
        'user: Add.',
        'model: Adding. add? add?',
        'tool: {"result":3} {"result":7}',
        'model: Three and seven.',
        'user: paid',
        'user: shipped',
        'user: Thanks.',
        'model: You are welcome.',
      ],
      'user.message turn.started agent.message tool.call tool.call tool.result tool.result agent.message turn.ended user.message turn.started agent.message turn.ended',
      ['turn.permit'],
    ],
    2,
    { paid: true, shipped: true },
  ],
};
