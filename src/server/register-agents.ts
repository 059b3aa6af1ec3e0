import { InvalidInputError } from '../core/index.ts';
import { parseJsonWithSchema } from '../core/validation/parse-with-schema.ts';
import { AgentNotFoundError } from '../managed/index.ts';
import { deriveAgentId } from '../managed/internal.ts';
import type { ManagedAgent, ManagedRuntime } from '../managed/index.ts';
import type { DocumentStore } from '../store/index.ts';
import { AGENT_INDEX, WorkspaceIndex } from './auth/workspace-index.ts';
import { agentCreate } from './wire/agent-schemas.ts';
import { toAgentDefinition } from './wire/from-wire-agent.ts';

/**
 * Ensures that a workspace has these agents, given in the format of the HTTP API. The id of an agent is `agent_` and
 * its name in lower case. A changed definition becomes a new version; existing sessions keep the version they were
 * started with. Errors name an agent by its label. Default: `agents[0]`, `agents[1]`, …
 * @throws InvalidInputError for an invalid definition, and for two agents with the same id; MissingServiceError;
 * AgentArchivedError
 */
export async function registerAgents(
  { runtime, store }: { readonly runtime: ManagedRuntime; readonly store: DocumentStore },
  workspace: string,
  agents: readonly unknown[],
  { labels = [] }: { readonly labels?: readonly string[] } = {},
): Promise<readonly ManagedAgent[]> {
  const index = new WorkspaceIndex(store, AGENT_INDEX);
  const registered: ManagedAgent[] = [];
  const ids = new Set<string>();
  for (const [position, written] of agents.entries()) {
    const label = labels[position] ?? `agents[${position}]`;
    const wire = parseJsonWithSchema(agentCreate, written, label);
    const id = deriveAgentId(wire.name);
    if (ids.has(id))
      throw new InvalidInputError(
        `${label}.name`,
        `has the same id "${id}" as an earlier agent. Rename one of them.`,
      );
    ids.add(id);
    const agent = await registerAgent(runtime, id, toAgentDefinition(wire));
    await index.put(workspace, agent.id, agent.createdAt);
    registered.push(agent);
  }
  return registered;
}

async function registerAgent(
  runtime: ManagedRuntime,
  id: string,
  definition: object,
): Promise<ManagedAgent> {
  const found = await runtime.getAgent(id).catch((error: unknown) => {
    if (error instanceof AgentNotFoundError) return undefined;
    throw error;
  });
  if (found === undefined) return runtime.create(definition, { id });
  return runtime.updateAgent(id, definition, { version: found.version });
}
