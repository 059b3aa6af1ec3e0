import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { InvalidInputError, isPetrichorError } from '../core/index.ts';
import type { JsonObject, Seq } from '../core/index.ts';
import { resultOfBlocks } from '../managed/content-blocks.ts';
import { ManagedSessionNotFoundError } from '../managed/index.ts';
import type { ManagedSession, StreamedEvent, UserEvent } from '../managed/index.ts';
import { toToolResponse } from '../tools/index.ts';
import { cursorAfter } from './event-cursor.ts';
import { eventsSend, toUserEvent } from './event-schemas.ts';
import { eventStream } from './event-stream.ts';
import { defineRoute } from './route.ts';
import type { Route } from './route.ts';
import type { ServerParts } from './server-parts.ts';
import { faceOf, readLog } from './session-log.ts';
import { sessionOf, wantWorker } from './session-view.ts';
import { toWireContent, wireEventId } from './wire-event.ts';
import type { WireEvent } from './wire-event.ts';
import {
  aboutCall,
  aboutConfirmation,
  aboutMessage,
  aboutOutcome,
  aboutResult,
} from './wire-face.ts';
import type { WireFace } from './wire-face.ts';
import { createdAt, isWithin, name, order, paging, unsupported } from './wire-schemas.ts';

const DEFAULT_LIMIT = 20;

const eventId = v.optional(name(256));

const listQuery = v.object({
  ...paging,
  ...createdAt,
  order,
  types: v.optional(v.array(name(128))),
  after_id: eventId,
});

const previews = v.picklist(
  ['agent.message', 'agent.thinking'],
  'must be agent.message or agent.thinking',
);

const streamQuery = v.object({
  event_deltas: v.optional(v.array(previews)),
  after_id: eventId,
  from_seq: v.optional(
    v.pipe(v.string(), v.digits('must be a whole number'), v.transform(Number), v.safeInteger()),
  ),
  include: unsupported,
});

/** Events: sent, listed, and streamed as they happen. */
export function eventRoutes(parts: ServerParts): readonly Route[] {
  const { runtime, clock, closing, keepAliveMs, stallMs } = parts;
  return [
    defineRoute('POST /v1/sessions/{session_id}/events: Send events to a session', {
      body: eventsSend,
      run: async (call) => {
        const session = await sessionOf(parts, call);
        await wantWorker(parts, call.caller.workspace, session);
        const data: JsonObject[] = [];
        for (const [index, event] of call.body.events.entries())
          data.push(await send(parts, session, toUserEvent(event), `${call.attempt}-${index}`));
        return { data };
      },
    }),
    defineRoute('GET /v1/sessions/{session_id}/events: List the events of a session', {
      query: listQuery,
      run: async (call) => {
        const session = await sessionOf(parts, call);
        const { face } = await faceOf(parts, session);
        return listEvents(parts, session, face, call.query);
      },
    }),
    defineRoute('GET /v1/sessions/{session_id}/events/stream: Events as they happen', {
      query: streamQuery,
      streams: true,
      run: async (call) => {
        const session = await sessionOf(parts, call);
        const { face } = await faceOf(parts, session);
        const { after_id, from_seq, event_deltas = [] } = call.query;
        const lastId = call.request.headers.get('last-event-id') ?? after_id;
        const after =
          lastId === undefined || lastId === ''
            ? { seq: from_seq ?? session.lastSeq, index: Infinity }
            : await cursorAfter(readLog(parts, session, 0), face, lastId);
        return eventStream({
          log: (from, signal) =>
            untilDeleted(
              runtime.streamLog(session.id, from, { signal, partials: event_deltas.length > 0 }),
              session.lastSeq,
            ),
          face,
          after,
          previews: new Set<string>(event_deltas),
          signals: [call.request.signal, closing],
          clock,
          keepAliveMs,
          stallMs,
        });
      },
    }),
  ];
}

/** The session was there when its stream was asked for: gone before the first event, it was deleted meanwhile. */
async function* untilDeleted(
  log: AsyncIterable<StreamedEvent>,
  lastSeq: Seq,
): AsyncGenerator<StreamedEvent, void, undefined> {
  try {
    yield* log;
  } catch (error) {
    if (!(error instanceof ManagedSessionNotFoundError)) throw error;
    yield { type: 'session.deleted', seq: lastSeq };
  }
}

/** Puts one event before the session. What comes back has the id that the event will have in the log. */
async function send(
  parts: ServerParts,
  session: ManagedSession,
  event: UserEvent,
  key: string,
): Promise<JsonObject> {
  const { runtime } = parts;
  const { face, uid, pending } = await faceOf(parts, session);
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
      await runtime.sendEvent(session.id, event, { dedupeKey: key });
      return { id: wireEventId(uid, `interrupt:${key}`), type: event.type, processed_at: null };
    }
    case 'user.tool_confirmation': {
      const callId = await callMeant(face, uid, pending, event.tool_use_id);
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
      const callId = await callMeant(face, uid, pending, named);
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

async function callMeant(
  face: WireFace,
  uid: string,
  pending: readonly string[],
  named: string,
): Promise<string> {
  if (!named.startsWith('sevt_')) return named;
  const waiting = pending.find((callId) => wireEventId(uid, aboutCall(callId)) === named);
  return waiting ?? (await face.callOf(named)) ?? named;
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

interface ListQuery {
  readonly limit?: number | undefined;
  readonly page?: string | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  readonly types?: readonly string[] | undefined;
  readonly after_id?: string | undefined;
}

async function listEvents(
  parts: ServerParts,
  session: ManagedSession,
  face: WireFace,
  query: ListQuery & Parameters<typeof isWithin>[1],
): Promise<JsonObject> {
  const { limit = DEFAULT_LIMIT, page, order = 'asc', types, after_id } = query;
  const matching: WireEvent[] = [];
  // The whole log up to the page: what a result belongs to stands earlier in it.
  for await (const event of readLog(parts, session, 0)) {
    const shown = await face.show(event);
    if (!isWithin(event.at, query)) continue;
    matching.push(...shown.filter(({ type }) => types === undefined || types.includes(type)));
  }
  if (order === 'desc') matching.reverse();
  const mark = page ?? after_id;
  const start = mark === undefined ? 0 : matching.findIndex(({ id }) => id === mark) + 1;
  if (mark !== undefined && start === 0)
    throw new InvalidInputError('page', 'names no event of this listing: begin it anew.');
  const data = matching.slice(start, start + limit);
  const hasMore = start + limit < matching.length;
  return { data, next_page: hasMore ? (data.at(-1)?.id ?? null) : null };
}
