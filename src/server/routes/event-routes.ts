import { sendEventsBody } from '../wire/event-schemas.ts';
import { defineRoute } from '../routing/route.ts';
import type { HttpRoute } from '../routing/route.ts';
import { sendEvents } from './send-events.ts';
import type { ServerContext } from '../routing/server-context.ts';
import {
  listEvents,
  listEventsQuery,
  streamEvents,
  streamEventsQuery,
} from '../events/list-and-stream-events.ts';
import { getWorkspaceSession, enqueueForWorker } from './wire-session.ts';
import { authorizeWorkerEvents } from './authorize-worker-events.ts';

/** Routes that send, list and stream events. */
export function eventRoutes(context: ServerContext): readonly HttpRoute[] {
  return [
    defineRoute('POST /v1/sessions/{session_id}/events: Send events to a session', {
      body: sendEventsBody,
      scopes: ['full', 'session'],
      run: async (call) => {
        const session = await getWorkspaceSession(context, call);
        await authorizeWorkerEvents(context, call.caller, session, call.body.events);
        await enqueueForWorker(context, call.caller.workspace, session);
        return { data: await sendEvents(context, session, call.body.events, call.idempotencyKey) };
      },
    }),
    defineRoute('GET /v1/sessions/{session_id}/events: List the events of a session', {
      query: listEventsQuery,
      scopes: ['full', 'read', 'session'],
      run: async (call) => {
        return listEvents(context, await getWorkspaceSession(context, call), call.query);
      },
    }),
    defineRoute('GET /v1/sessions/{session_id}/events/stream: Events as they happen', {
      query: streamEventsQuery,
      scopes: ['full', 'read', 'session'],
      streams: true,
      run: async (call) => {
        return streamEvents(context, await getWorkspaceSession(context, call), call);
      },
    }),
  ];
}
