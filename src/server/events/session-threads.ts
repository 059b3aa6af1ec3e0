import type { ManagedSession } from '../../managed/index.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { toThreadId } from '../wire/wire-event.ts';
import { toSessionRef } from './session-log.ts';

/** The session itself, then its threads in the order of the calls. */
export async function listThreads(
  { runtime }: ServerContext,
  session: ManagedSession,
): Promise<readonly ManagedSession[]> {
  return [session, ...(await runtime.threads(toSessionRef(session)))];
}

/** Finds a thread of a session by the thread's id in the HTTP API; undefined if it has none. */
export async function findThread(
  context: ServerContext,
  session: ManagedSession,
  threadId: string,
): Promise<ManagedSession | undefined> {
  return (await listThreads(context, session)).find((one) => toThreadId(one.id) === threadId);
}
