import { agent, agentTool, workflow } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { isFunctionResponsePart } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { ModelScript } from '../../src/models/index.ts';
import type { ProtocolName } from '../../src/server/index.ts';
import { tool } from '../../src/tools/index.ts';
import { scriptedChat } from '../server/scripted-chat.ts';
import { openTestServer } from './test-server.ts';

/** A server with an agent of the scenarios. */
export interface ScenarioServer extends AsyncDisposable {
  readonly url: string;
  readonly agentId: string;
  /** The names of the tools that ran, in order. */
  readonly ran: readonly string[];
  /** The types of the log entries of a session. */
  readonly logTypes: (sessionId: string) => Promise<readonly string[]>;
}

/** `count`: the number of the user's messages. Otherwise as `scriptedChat`. */
const script: ModelScript = (request, context) => {
  const { contents } = request;
  const users = contents.filter(
    ({ role, parts }) => role === 'user' && !parts.some(isFunctionResponsePart),
  );
  const isCount = users.at(-1)?.parts.some((part) => 'text' in part && part.text === 'count');
  if (isCount === true) return { text: `${users.length} messages` };
  return typeof scriptedChat === 'function' ? scriptedChat(request, context) : { text: '' };
};

/** The agents of the scenarios. */
export type ScenarioAgent = 'assistant' | 'team';

/** @param name the only agent of the server. Default: `assistant`. */
export async function openScenarioServer(
  protocols: readonly ProtocolName[],
  name: ScenarioAgent = 'assistant',
): Promise<ScenarioServer> {
  const ran: string[] = [];
  const parameters = { type: 'object', properties: { path: { type: 'string' } } } as const;
  const look = tool({
    name: 'look',
    description: 'Looks at a path.',
    parameters,
    readOnly: true,
    execute: ({ path }) => {
      ran.push('look');
      return { seen: path };
    },
  });
  const erase = tool({
    name: 'erase',
    description: 'Erases a path.',
    parameters,
    needsApproval: true,
    execute: ({ path }) => {
      ran.push('erase');
      return { erased: path };
    },
  });
  const assistant = agent({
    name: 'assistant',
    model: new ScriptedModel(script),
    tools: [look, erase],
  });
  const one = name === 'assistant' ? assistant : createTeam();
  const {
    url,
    runtime,
    [Symbol.asyncDispose]: close,
  } = await openTestServer({
    agents: [one],
    protocols,
  });
  return {
    url,
    agentId: `agent_${name}`,
    ran,
    logTypes: async (id) => {
      const session = await runtime.find(id, { user: 'default' });
      const types: string[] = [];
      for await (const event of session?.events(0, { follow: false }) ?? []) types.push(event.type);
      return types;
    },
    [Symbol.asyncDispose]: close,
  };
}

/** A workflow of a function and an agent, which calls another agent as a tool. */
function createTeam(): Agent {
  const checker = agent({
    name: 'checker',
    description: 'Checks a text.',
    model: new ScriptedModel(() => ({ text: 'Checked.' })),
  });
  const writer = agent({
    name: 'writer',
    model: new ScriptedModel((request) =>
      (request.contents.at(-1)?.parts ?? []).some(isFunctionResponsePart)
        ? { text: 'It is written.' }
        : { text: 'I ask.', toolCalls: [{ name: 'checker', args: { request: 'Check it.' } }] },
    ),
    tools: [agentTool(checker)],
  });
  return workflow({
    name: 'team',
    nodes: [
      { kind: 'function', name: 'plan', run: () => 'Write.' },
      { kind: 'agent', name: 'writer', agent: writer },
    ],
    edges: [
      { from: 'START', to: 'plan' },
      { from: 'plan', to: 'writer' },
    ],
  });
}
