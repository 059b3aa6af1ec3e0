import type { ManagedSession } from '../../managed/index.ts';
import { notFound } from '../http/http-error.ts';
import type { ServerContext } from '../routing/server-context.ts';
import type { WireUserEvent } from '../wire/event-schemas.ts';
import { openProjection, toSessionRef } from './session-log.ts';
import { findThread } from './session-threads.ts';

/**
 * The session that an event is for: the session itself or one of its threads.
 * @throws HttpError 404 for an unknown thread
 */
export async function findEventTarget(
  context: ServerContext,
  session: ManagedSession,
  event: WireUserEvent,
): Promise<ManagedSession> {
  switch (event.type) {
    case 'user.interrupt': {
      const threadId = event.session_thread_id;
      if (threadId == null) return session;
      const thread = await findThread(context, session, threadId);
      if (thread === undefined) throw notFound('thread', threadId);
      return thread;
    }
    case 'user.tool_confirmation':
    case 'user.tool_result':
      return findCallSession(context, session, event.tool_use_id);
    case 'user.custom_tool_result':
      return findCallSession(context, session, event.custom_tool_use_id);
    default:
      return session;
  }
}

/** The session or thread that made a call; the session itself if the call is unknown. */
async function findCallSession(
  context: ServerContext,
  session: ManagedSession,
  call: string,
): Promise<ManagedSession> {
  const threads = await context.runtime.threads(toSessionRef(session));
  if (threads.length === 0) return session;
  for (const one of [session, ...threads]) {
    const { projection } = openProjection(context, one);
    if ((await projection.resolveCallId(call)) !== undefined) return one;
  }
  return session;
}
