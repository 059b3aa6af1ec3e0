import type { ManagedSession } from '../managed/index.ts';
import type { WireUserEvent } from './event-schemas.ts';
import type { ServerParts } from './server-parts.ts';
import { faceOf } from './session-log.ts';
import { findThread } from './thread-routes.ts';
import { notFound } from './wire-error.ts';

/** Whose event it is: that of the session, or of one of its threads. @throws WireError 404 for a thread that is none */
export async function findTarget(
  parts: ServerParts,
  session: ManagedSession,
  event: WireUserEvent,
): Promise<ManagedSession> {
  switch (event.type) {
    case 'user.interrupt': {
      const threadId = event.session_thread_id;
      if (threadId == null) return session;
      const thread = await findThread(parts, session, threadId);
      if (thread === undefined) throw notFound('thread', threadId);
      return thread;
    }
    case 'user.tool_confirmation':
    case 'user.tool_result':
      return holderOf(parts, session, event.tool_use_id);
    case 'user.custom_tool_result':
      return holderOf(parts, session, event.custom_tool_use_id);
    default:
      return session;
  }
}

/** Who made a call; the session itself when nobody did. */
async function holderOf(
  parts: ServerParts,
  session: ManagedSession,
  call: string,
): Promise<ManagedSession> {
  const threads = await parts.runtime.threads(session.id);
  if (threads.length === 0) return session;
  for (const one of [session, ...threads]) {
    const { face } = await faceOf(parts, one);
    if ((await face.callOf(call)) !== undefined) return one;
  }
  return session;
}
