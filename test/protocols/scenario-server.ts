import { agent } from '../../src/agents/index.ts';
import { isFunctionResponsePart } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { ModelScript } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { createServer, listen } from '../../src/server/index.ts';
import type { ProtocolName } from '../../src/server/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { scriptedChat } from '../server/scripted-chat.ts';

/** A server with the agent of the scenarios. */
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

export async function openScenarioServer(
  protocols: readonly ProtocolName[],
  { store = new MemoryStore(), port = 0 }: { readonly store?: Store; readonly port?: number } = {},
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
  const runtime = await openRuntime({ agents: [assistant], store });
  const server = await createServer({
    runtime,
    keys: 'off',
    protocols,
    limits: { requestsPerMinute: 100_000, createsPerMinute: 100_000 },
  });
  const listening = await listen(server, { port, keysRequired: false });
  return {
    url: listening.url,
    agentId: 'agent_assistant',
    ran,
    logTypes: async (id) => {
      const session = await runtime.find(id, { user: 'default' });
      const types: string[] = [];
      for await (const event of session?.events(0, { follow: false }) ?? []) types.push(event.type);
      return types;
    },
    [Symbol.asyncDispose]: async () => {
      await listening.close();
      await runtime.close();
    },
  };
}
