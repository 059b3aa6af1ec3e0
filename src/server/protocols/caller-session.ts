import type { ManagedSession } from '../../managed/index.ts';
import { ignoreMissingSession } from '../../managed/internal.ts';
import { isChildSessionId } from '../../core/index.ts';
import type { Caller } from '../auth/api-keys.ts';
import { getWorkspaceAgent } from '../routes/workspace-agents.ts';
import type { ServerContext } from '../routing/server-context.ts';

/**
 * Finds a session of the caller's workspace by the id that the client has for its conversation. Undefined for a session
 * of another workspace, too.
 */
export async function findCallerSession(
  { runtime }: ServerContext,
  { workspace }: Caller,
  id: string,
): Promise<ManagedSession | undefined> {
  // A thread belongs to its session.
  if (isChildSessionId(id)) return undefined;
  return runtime.getSession({ id, userId: workspace }).catch(ignoreMissingSession);
}

/**
 * Opens the session with the id that the client chose for its conversation, or starts it. The id of the conversation is
 * the id of the session, so every protocol finds it.
 * @throws HttpError 404 for an unknown agent; InvalidInputError for the id of a session of another agent
 */
export async function openCallerSession(
  context: ServerContext,
  caller: Caller,
  { id, agentId }: { readonly id: string; readonly agentId: string },
): Promise<ManagedSession> {
  const agent = await getWorkspaceAgent(context, caller.workspace, agentId);
  return context.runtime.startSession(agent.id, { userId: caller.workspace }, { id });
}
