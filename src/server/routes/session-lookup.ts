import { isChildSessionId, isJsonObject } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import { ManagedSessionNotFoundError } from '../../managed/index.ts';
import type { ManagedRuntime, ManagedSession } from '../../managed/index.ts';
import type { RouteCall } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';

/** What the server stores about a session besides the runtime. */
export interface SessionIndexEntry {
  readonly environmentId: string | null;
}

/**
 * Finds a session of the caller's workspace.
 * @param source.runtime the runtime, or a batch that reads the session
 * @throws ManagedSessionNotFoundError, with the same message for a session of another workspace
 */
export async function getWorkspaceSession(
  { runtime }: { readonly runtime: Pick<ManagedRuntime, 'getSession'> },
  { caller, params }: Pick<RouteCall<unknown, unknown>, 'caller' | 'params'>,
): Promise<ManagedSession> {
  const id = params('session_id');
  // A thread belongs to its session and has routes of its own.
  if (isChildSessionId(id)) throw new ManagedSessionNotFoundError(id);
  return runtime.getSession({ id, userId: caller.workspace });
}

export function parseSessionIndexEntry(value: Json | undefined): SessionIndexEntry {
  const environmentId = isJsonObject(value) ? value['environmentId'] : undefined;
  return { environmentId: typeof environmentId === 'string' ? environmentId : null };
}

/** Call it before sending something to a session: if its tools are self-hosted, it may need a worker. */
export async function enqueueForWorker(
  { sessions, work }: ServerContext,
  workspace: string,
  session: ManagedSession,
): Promise<void> {
  if (session.environment?.selfHosted !== true) return;
  const { environmentId } = parseSessionIndexEntry(await sessions.get(workspace, session.id));
  if (environmentId !== null) await work.enqueue(environmentId, session);
}
