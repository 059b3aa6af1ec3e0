import { AgentNotFoundError } from '../../managed/index.ts';
import type { ManagedAgent, ManagedRuntime, ManagedSession } from '../../managed/index.ts';
import { deriveAgentId } from '../../managed/internal.ts';
import { notFound } from '../http/http-error.ts';
import type { ServerContext } from '../routing/server-context.ts';
import type { Wire } from '../wire/component.ts';
import { toWireAgentSnapshot, toWireUnknownAgent } from '../wire/to-wire-agent.ts';

/** The ids of the agents that the program passes to the runtime. Every workspace has them. */
export function listCodeAgentIds({ runtime }: ManagedRuntime): readonly string[] {
  return runtime.agentNames.map(deriveAgentId);
}

/**
 * Finds an agent of the caller's workspace, or one that the program defines. Default version: the newest.
 * @throws HttpError 404
 */
export async function getWorkspaceAgent(
  { runtime, agents }: ServerContext,
  workspace: string,
  id: string,
  version?: number,
): Promise<ManagedAgent> {
  const isVisible = isCodeAgent(runtime, id) || (await agents.get(workspace, id)) !== undefined;
  if (!isVisible) throw notFound('agent', id);
  return runtime.getAgent(id, version === undefined ? {} : { version });
}

/** Also true for an agent that only other agents call: its threads name it. */
function isCodeAgent({ runtime }: ManagedRuntime, id: string): boolean {
  return [...runtime.agents.keys()].some((name) => deriveAgentId(name) === id);
}

/** The agent of a session or a thread. Nothing is known about an agent that no program of this store has recorded. */
export async function readSessionAgent(
  { runtime }: ServerContext,
  { agentId: id, agentVersion: version }: ManagedSession,
): Promise<Wire<'SessionAgent'>> {
  try {
    return toWireAgentSnapshot(await runtime.getAgent(id, { version }));
  } catch (error) {
    if (!(error instanceof AgentNotFoundError)) throw error;
    return toWireUnknownAgent(id, version);
  }
}
