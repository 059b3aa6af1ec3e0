import { omitUndefined } from '../../core/internal.ts';
import { isChildSessionId, isJsonObject } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import { ManagedSessionNotFoundError } from '../../managed/index.ts';
import type { ManagedRuntime, ManagedSession } from '../../managed/index.ts';
import type { RouteCall } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';

/** What the server stores about a session besides the runtime. */
export interface SessionIndexEntry {
  readonly environmentId: string | null;
  /** The session that this one was forked from, and where. */
  readonly forkedFrom?: ForkOrigin;
}

/** Where a fork was cut: after an event of the log, or after a record of the journal. */
export interface ForkOrigin {
  readonly sessionId: string;
  readonly upTo: number | null;
  readonly atRecord: number | null;
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
  const { environmentId, forkedFrom } = isJsonObject(value) ? value : {};
  return {
    environmentId: typeof environmentId === 'string' ? environmentId : null,
    ...omitUndefined({ forkedFrom: parseForkOrigin(forkedFrom) }),
  };
}

function parseForkOrigin(value: Json | undefined): ForkOrigin | undefined {
  if (!isJsonObject(value)) return undefined;
  const { sessionId, upTo, atRecord } = value;
  if (typeof sessionId !== 'string') return undefined;
  return {
    sessionId,
    upTo: typeof upTo === 'number' ? upTo : null,
    atRecord: typeof atRecord === 'number' ? atRecord : null,
  };
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
