import { isDeepStrictEqual } from 'node:util';
import { isPetrichorError } from '../core/index.ts';
import type { JsonObject } from '../core/index.ts';
import { resultOfBlocks } from '../managed/content-blocks.ts';
import type { ManagedSession, UserEvent } from '../managed/index.ts';
import { toToolResponse } from '../tools/index.ts';
import { eventsSend, toUserEvent } from './event-schemas.ts';
import type { WireUserEvent } from './event-schemas.ts';
import { defineRoute } from './route.ts';
import type { Route } from './route.ts';
import type { ServerParts } from './server-parts.ts';
import { faceOf, readLog } from './session-log.ts';
import { listEvents, listQuery, streamEvents, streamQuery } from './session-events.ts';
import { sessionOf, wantWorker } from './session-view.ts';
import { findThread } from './thread-routes.ts';
import { notFound } from './wire-error.ts';
import { toWireContent, wireEventId } from './wire-event.ts';
import { aboutConfirmation, aboutMessage, aboutOutcome, aboutResult } from './wire-face.ts';

/** Events: sent, listed, and streamed as they happen. */
export function eventRoutes(parts: ServerParts): readonly Route[] {
  return [
    defineRoute('POST /v1/sessions/{session_id}/events: Send events to a session', {
      body: eventsSend,
      run: async (call) => {
        const session = await sessionOf(parts, call);
        await wantWorker(parts, call.caller.workspace, session);
        const data: JsonObject[] = [];
        for (const [index, event] of call.body.events.entries()) {
          const target = await targetOf(parts, session, event);
          data.push(await send(parts, target, toUserEvent(event), `${call.attempt}-${index}`));
        }
        return { data };
      },
    }),
    defineRoute('GET /v1/sessions/{session_id}/events: List the events of a session', {
      query: listQuery,
      run: async (call) => {
        return listEvents(parts, await sessionOf(parts, call), call.query);
      },
    }),
    defineRoute('GET /v1/sessions/{session_id}/events/stream: Events as they happen', {
      query: streamQuery,
      streams: true,
      run: async (call) => {
        return streamEvents(parts, await sessionOf(parts, call), call);
      },
    }),
  ];
}

/** Puts one event before the session. What comes back has the id that the event will have in the log. */
async function send(
  parts: ServerParts,
  session: ManagedSession,
  event: UserEvent,
  key: string,
): Promise<JsonObject> {
  const { runtime, attempts } = parts;
  const { face, uid } = await faceOf(parts, session);
  switch (event.type) {
    case 'user.message': {
      await runtime.sendEvent(session.id, event, { dedupeKey: key });
      return {
        id: wireEventId(uid, aboutMessage(key)),
        type: event.type,
        content: toWireContent(event.content),
        processed_at: null,
      };
    }
    case 'user.define_outcome': {
      await runtime.sendEvent(session.id, event, { dedupeKey: key });
      const outcome_id = `outcome_${key}`;
      const { description = '', rubric = description, max_iterations = 3 } = event;
      return {
        id: wireEventId(uid, aboutOutcome(outcome_id)),
        type: event.type,
        outcome_id,
        description,
        rubric: { type: 'text', content: rubric },
        max_iterations,
        processed_at: null,
      };
    }
    case 'user.interrupt': {
      // Late, its repetition would end the next turn.
      await attempts.once(session.owner.userId, key, async () => {
        await runtime.sendEvent(session.id, event);
      });
      return { id: wireEventId(uid, `interrupt:${key}`), type: event.type, processed_at: null };
    }
    case 'user.tool_confirmation': {
      const callId = (await face.callOf(event.tool_use_id)) ?? event.tool_use_id;
      await answered(parts, session, callId, { ...event, tool_use_id: callId });
      const { result, deny_message } = event;
      return {
        id: wireEventId(uid, aboutConfirmation(callId)),
        type: event.type,
        tool_use_id: event.tool_use_id,
        result,
        ...(deny_message !== undefined && { deny_message }),
        processed_at: null,
      };
    }
    case 'user.tool_result':
    case 'user.custom_tool_result': {
      const named =
        event.type === 'user.tool_result' ? event.tool_use_id : event.custom_tool_use_id;
      const callId = (await face.callOf(named)) ?? named;
      const { content, is_error = false, type } = event;
      const field = type === 'user.tool_result' ? 'tool_use_id' : 'custom_tool_use_id';
      await answered(parts, session, callId, {
        content,
        is_error,
        ...(type === 'user.tool_result'
          ? { type, tool_use_id: callId }
          : { type, custom_tool_use_id: callId }),
      });
      return {
        id: wireEventId(uid, aboutResult(callId)),
        type,
        [field]: named,
        content: toWireContent(content),
        is_error,
        processed_at: null,
      };
    }
    default:
      return event satisfies never;
  }
}

/** Whose event it is: that of the session, or of one of its threads. @throws WireError 404 for a thread that is none */
async function targetOf(
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

/** A call is answered once: the same answer again is that answer, and another one is refused. */
async function answered(
  parts: ServerParts,
  session: ManagedSession,
  callId: string,
  event: UserEvent,
): Promise<void> {
  try {
    await parts.runtime.sendEvent(session.id, event);
  } catch (error) {
    const mayBeRepeated =
      isPetrichorError(error) &&
      ['already_answered', 'call_not_pending', 'illegal_transition'].includes(error.code);
    if (!mayBeRepeated || !(await isTheAnswer(parts, session, callId, event))) throw error;
  }
}

async function isTheAnswer(
  parts: ServerParts,
  session: ManagedSession,
  callId: string,
  event: UserEvent,
): Promise<boolean> {
  for await (const logged of readLog(parts, session, 0)) {
    if (!('callId' in logged) || logged.callId !== callId) continue;
    if (event.type === 'user.tool_confirmation') {
      if (logged.type === 'tool.answered' && logged.decision !== 'answered')
        return logged.decision === (event.result === 'allow' ? 'approved' : 'denied');
    } else if (
      logged.type === 'tool.result' &&
      (event.type === 'user.tool_result' || event.type === 'user.custom_tool_result')
    ) {
      const isError = event.is_error === true;
      if (isError !== (logged.outcome !== 'ok')) return false;
      const { response } = toToolResponse(resultOfBlocks(event.content));
      return isError || isDeepStrictEqual(response, logged.response);
    }
  }
  return false;
}
