import { SESSION_WRITE_SCOPES } from '../auth/key-scope.ts';
import { listEvents, listEventsQuery } from '../events/list-events.ts';
import { sendEvents } from '../events/send-events.ts';
import { streamEvents, streamEventsQuery } from '../events/stream-events.ts';
import { defineRoute } from '../routing/route.ts';
import type { HttpRoute } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { sendEventsBody } from '../wire/event-schemas.ts';
import { sessionEventPage, streamedEvent } from '../wire/responses/event-responses.ts';
import { acceptedEvents } from '../wire/responses/sent-event-responses.ts';
import { authorizeWorkerEvents } from './authorize-worker-events.ts';
import { getWorkspaceSession, enqueueForWorker } from './session-lookup.ts';

/** Routes that send, list and stream events. */
export function eventRoutes(context: ServerContext): readonly HttpRoute[] {
  return [
    defineRoute('POST /v1/sessions/{session_id}/events: Send events to a session', {
      response: acceptedEvents,
      body: sendEventsBody,
      scopes: [...SESSION_WRITE_SCOPES, 'session'],
      storesRequest: true,
      run: async (call) => {
        const batch = context.runtime.eventBatch();
        const session = await getWorkspaceSession({ runtime: batch }, call);
        await authorizeWorkerEvents(context, call.caller, session, call.body.events);
        await enqueueForWorker(context, call.caller.workspace, session);
        const { idempotentRequest } = call;
        const { caller, body } = call;
        const { events } = body;
        const request = { caller, session, batch, events, idempotentRequest };
        return { data: await sendEvents(context, request) };
      },
    }),
    defineRoute('GET /v1/sessions/{session_id}/events: List the events of a session', {
      response: sessionEventPage,
      query: listEventsQuery,
      scopes: ['full', 'read', 'console', 'session'],
      run: async (call) => {
        return listEvents(context, await getWorkspaceSession(context, call), call.query);
      },
    }),
    defineRoute('GET /v1/sessions/{session_id}/events/stream: Events as they happen', {
      response: streamedEvent,
      query: streamEventsQuery,
      scopes: ['full', 'read', 'console', 'session'],
      streams: true,
      run: async (call) => {
        return streamEvents(context, await getWorkspaceSession(context, call), call);
      },
    }),
  ];
}
