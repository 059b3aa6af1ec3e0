import { App, LlmAgent } from '../../src/adk/index.ts';
import { agent, agentTool, START, custom, sequential, workflow } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { contentText } from '../../src/core/index.ts';
import { definitions, manageRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { AgentSource, Runtime, Session } from '../../src/runtime/index.ts';
import { tool } from '../../src/tools/index.ts';
import type { Tool } from '../../src/tools/index.ts';

export const USER = 'ana';

/** A runtime with one agent, however that was written, and the name by which its sessions know it. */
export interface OpenedKind extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly agentName: string;
  /** The number of refunds made. */
  readonly refunds: () => number;
}

/** Each way of writing an agent. Each behaves as `chat` below says. */
export const KINDS: readonly {
  readonly name: string;
  readonly open: () => Promise<OpenedKind>;
}[] = [
  { name: 'agent()', open: async () => openCode((tools) => chatAgent('clerk', tools)) },
  {
    name: 'sequential()',
    open: async () =>
      openCode((tools) =>
        sequential({
          name: 'steps',
          subAgents: [
            custom({ name: 'first', run: async function* () {} }),
            chatAgent('clerk', tools),
          ],
        }),
      ),
  },
  {
    name: 'workflow()',
    open: async () =>
      openCode((tools) => {
        const clerk = chatAgent('clerk', tools);
        const nodes = [{ kind: 'agent', name: 'clerk', agent: clerk }] as const;
        return workflow({ name: 'flow', nodes, edges: [{ from: START, to: 'clerk' }] });
      }),
  },
  {
    name: 'ADK App',
    open: async () =>
      openCode((tools) => {
        const rootAgent = new LlmAgent({ name: 'clerk', model: chat(), tools });
        return new App({ name: 'shop', rootAgent });
      }),
  },
  { name: 'stored definition', open: openDefinition },
];

/**
 * `refund` calls a tool that needs approval, `lookup` one that someone outside answers, `delegate` an agent that calls
 * `refund`.
 */
function chat(): ScriptedModel {
  return new ScriptedModel(({ contents }) => {
    const last = contents.at(-1);
    if (last?.parts.some((part) => 'functionResponse' in part) === true) return { text: 'Done.' };
    const text = last === undefined ? '' : contentText(last);
    if (text.includes('refund')) return { toolCalls: [{ name: 'refund', args: {} }] };
    if (text.includes('lookup')) return { toolCalls: [{ name: 'lookup', args: {} }] };
    if (text.includes('json')) return { text: '{"total":3}' };
    if (text.includes('delegate'))
      return { toolCalls: [{ name: 'helper', args: { request: 'refund' } }] };
    return { text: `You said: ${text}` };
  });
}

function chatAgent(name: string, tools: readonly Tool[]): Agent {
  return agent({ name, model: chat(), tools });
}

function createTools(): { readonly tools: readonly Tool[]; readonly refunds: () => number } {
  let count = 0;
  const refund = tool({
    name: 'refund',
    description: 'Refunds the order.',
    needsApproval: true,
    execute: () => {
      count++;
      return 'refunded';
    },
  });
  const lookup = tool({ name: 'lookup', description: 'Looks the order up.' });
  const helper = agentTool(agent({ name: 'helper', model: chat(), tools: [refund] }));
  return { tools: [refund, lookup, helper], refunds: () => count };
}

async function openCode(
  create: (tools: readonly Tool[]) => Agent | AgentSource,
): Promise<OpenedKind> {
  const { tools, refunds } = createTools();
  const runtime = await openRuntime({ agents: [create(tools)] });
  const [agentName = ''] = [...runtime.agents.keys()].filter((name) => name !== 'helper');
  return { runtime, agentName, refunds, [Symbol.asyncDispose]: async () => runtime.close() };
}

async function openDefinition(): Promise<OpenedKind> {
  const { tools, refunds } = createTools();
  const source = definitions({
    resolver: async () => chat(),
    builtIns: async (name) => tools.filter((one) => one.name === name),
  });
  const runtime = await openRuntime({ agents: [source] });
  const managed = await manageRuntime(runtime);
  const helper = await managed.create({
    name: 'helper',
    model: 'gpt-5',
    tools: [{ type: 'builtin', name: 'refund' }],
  });
  const { id } = await managed.create({
    name: 'clerk',
    model: 'gpt-5',
    tools: [
      { type: 'builtin', name: 'refund' },
      { type: 'custom', name: 'lookup', input_schema: { type: 'object' } },
    ],
    agents: [{ agent_id: helper.id }],
  });
  return {
    runtime,
    agentName: `${id}-v1`,
    refunds,
    [Symbol.asyncDispose]: async () => runtime.close(),
  };
}

/** Opens a new session of the agent. */
export async function newSession({ runtime, agentName }: OpenedKind, id = 's'): Promise<Session> {
  return runtime.session(id, { user: USER, agent: agentName });
}
