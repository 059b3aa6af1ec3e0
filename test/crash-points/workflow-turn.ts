import { agent, conversation, NodeEvent, state, userIn, workflow } from '../../src/agents/index.ts';
import type { ConversationItem } from '../../src/agents/index.ts';
import { deriveInvocationId, contentText, userContent } from '../../src/core/index.ts';
import type { Json, LogEntry } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { listIn, mapIn } from '../../src/net/index.ts';
import type { CrashCase } from './crash-everywhere.ts';

/** The node of an event and its output. */
function formatNodeEvent(entry: LogEntry): readonly string[] {
  return entry.type === 'agent.message' && entry.nodeInfo !== undefined
    ? [`${entry.nodeInfo.path} ${JSON.stringify(entry.output ?? contentText(entry.content))}`]
    : [];
}

function sizes(input: Json): number {
  return typeof input === 'object' ? JSON.stringify(input).length : 0;
}

/**
 * A turn of a workflow: a generator that writes state between its yields, then an agent and a list in parallel, a join,
 * and an edge back that is taken once.
 */
export const workflowTurn: CrashCase = {
  name: 'the turn of a workflow',
  inputs: [
    {
      at: 0,
      place: userIn.name,
      value: {
        messageId: 'm1',
        invocationId: deriveInvocationId('m1'),
        content: userContent('Go.'),
      },
    },
  ],
  outcome: (marking, outlets) => {
    const entries = outlets.map(({ value }) => value as unknown as LogEntry);
    const lines = listIn(marking, conversation.name).items.map((item) => {
      const { author = 'user', content } = item as unknown as ConversationItem;
      return `${author}: ${contentText(content)}`;
    });
    return [
      lines.toSorted(),
      entries.flatMap(formatNodeEvent).toSorted(),
      mapIn(marking, state.name),
      [...marking.tokens.keys()],
    ];
  },
  expected: [
    [
      'a: One.',
      'a: Two.',
      'plan: Planned 1.',
      'plan: Planned 2.',
      'user: Go.',
      'user: [1,2]',
      'user: [1,2]',
      'weigh: 26',
    ],
    [
      'flow/plan@1 "Planned 1."',
      'flow/plan@1 [1,2]',
      'flow/plan@1/a@1 "One."',
      'flow/plan@1/both@1 {"a":"One.","items":[2,4]}',
      'flow/plan@1/both@1/weigh@1 26',
      'flow/plan@1/items@1 [2,4]',
      'flow/plan@2 "Planned 2."',
      'flow/plan@2 [1,2]',
      'flow/plan@2/a@2 "Two."',
      'flow/plan@2/both@2 {"a":"Two.","items":[2,4]}',
      'flow/plan@2/both@2/weigh@2 26',
      'flow/plan@2/items@2 [2,4]',
    ],
    { plans: 2, seen: 2 },
    ['turn.permit'],
  ],
  net: (world) => {
    const scripted = new ScriptedModel([{ text: 'One.' }, { text: 'Two.' }]);
    const a = agent({
      name: 'a',
      model: {
        name: 'scripted',
        generate: async (...[request, context]: Parameters<ScriptedModel['generate']>) => {
          await world.runEffect(context, 6);
          return scripted.generate(request, context);
        },
      },
    });
    return workflow({
      name: 'flow',
      nodes: [
        {
          kind: 'function',
          name: 'plan',
          async *run({ state: entries, runId }) {
            entries.increment('plans');
            yield new NodeEvent({
              content: { role: 'model', parts: [{ text: `Planned ${runId}.` }] },
            });
            entries.set('seen', entries.get('plans') ?? 0);
            yield [1, 2];
          },
        },
        { kind: 'agent', name: 'a', agent: a },
        {
          kind: 'each',
          name: 'items',
          run: async (context, input) => {
            await world.runEffect(context, 3);
            return Number(input) * 2;
          },
        },
        { kind: 'join', name: 'both' },
        {
          kind: 'function',
          name: 'weigh',
          run: async (context, input) => {
            await world.runEffect(context, 2);
            const isFirstRun = context.runId === '1';
            return new NodeEvent({ output: sizes(input), ...(isFirstRun && { route: 'again' }) });
          },
        },
      ],
      edges: [
        { from: 'START', to: 'plan' },
        { from: 'plan', to: 'a' },
        { from: 'plan', to: 'items' },
        { from: 'a', to: 'both' },
        { from: 'items', to: 'both' },
        { from: 'both', to: 'weigh' },
        { from: 'weigh', to: 'plan', route: 'again' },
      ],
    }).net;
  },
};
