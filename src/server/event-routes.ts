import { eventsSend } from './event-schemas.ts';
import { defineRoute } from './route.ts';
import type { Route } from './route.ts';
import { sendEvents } from './send-events.ts';
import type { ServerParts } from './server-parts.ts';
import { listEvents, listQuery, streamEvents, streamQuery } from './session-events.ts';
import { sessionOf, wantWorker } from './session-view.ts';
import { assertMaySend } from './worker-events.ts';

/** Events: sent, listed, and streamed as they happen. */
export function eventRoutes(parts: ServerParts): readonly Route[] {
  return [
    defineRoute('POST /v1/sessions/{session_id}/events: Send events to a session', {
      body: eventsSend,
      scopes: ['full', 'session'],
      run: async (call) => {
        const session = await sessionOf(parts, call);
        await assertMaySend(parts, call.caller, session, call.body.events);
        await wantWorker(parts, call.caller.workspace, session);
        return { data: await sendEvents(parts, session, call.body.events, call.attempt) };
      },
    }),
    defineRoute('GET /v1/sessions/{session_id}/events: List the events of a session', {
      query: listQuery,
      scopes: ['full', 'read', 'session'],
      run: async (call) => {
        return listEvents(parts, await sessionOf(parts, call), call.query);
      },
    }),
    defineRoute('GET /v1/sessions/{session_id}/events/stream: Events as they happen', {
      query: streamQuery,
      scopes: ['full', 'read', 'session'],
      streams: true,
      run: async (call) => {
        return streamEvents(parts, await sessionOf(parts, call), call);
      },
    }),
  ];
}
