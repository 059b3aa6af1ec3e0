import { InvalidInputError, parseJson } from '../core/index.ts';
import { AgentNotFoundError } from '../managed/index.ts';
import type { ManagedAgent, ManagedRuntime } from '../managed/index.ts';
import type { DocumentStore } from '../store/index.ts';
import { agentCreate } from './agent-schemas.ts';
import { toDefinition } from './agent-view.ts';
import { WorkspaceIndex } from './workspace-index.ts';

/**
 * Sees that a workspace has these agents, written as clients write them, each under the id `agent_` and its name in
 * lower case. One that was changed since is one version more; sessions keep the version they began with.
 * @throws InvalidInputError, MissingServiceError, AgentArchivedError
 */
export async function seedAgents(
  { runtime, store }: { readonly runtime: ManagedRuntime; readonly store: DocumentStore },
  workspace: string,
  agents: readonly unknown[],
): Promise<readonly ManagedAgent[]> {
  const index = new WorkspaceIndex(store, 'workspace-agent');
  const seeded: ManagedAgent[] = [];
  const ids = new Set<string>();
  for (const [position, written] of agents.entries()) {
    const wire = parseJson(agentCreate, written, `agents[${position}]`);
    const id = idOf(wire.name);
    if (ids.has(id))
      throw new InvalidInputError(
        `agents[${position}].name`,
        `gives the id "${id}" to a second agent.`,
      );
    ids.add(id);
    const agent = await seed(runtime, id, toDefinition(wire));
    await index.put(workspace, agent.id, agent.createdAt);
    seeded.push(agent);
  }
  return seeded;
}

async function seed(
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

function idOf(name: string): string {
  const word = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return `agent_${word === '' ? 'agent' : word}`;
}
