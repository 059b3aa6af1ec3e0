import * as v from 'valibot';
import { SESSION_WRITE_SCOPES } from '../auth/key-scope.ts';
import type { ManagedSession } from '../../managed/index.ts';
import { listEvents, listEventsQuery } from '../events/list-events.ts';
import { toSessionRef } from '../events/session-log.ts';
import { findThread, listThreads } from '../events/session-threads.ts';
import { streamEvents, streamEventsQuery } from '../events/stream-events.ts';
import { notFound, HttpError } from '../http/http-error.ts';
import { invalidPageError } from '../http/invalid-page-error.ts';
import { defineRoute } from '../routing/route.ts';
import type { HttpRoute, RouteCall } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import type { Wire } from '../wire/component.ts';
import { sessionEventPage, streamedEvent } from '../wire/responses/event-responses.ts';
import { threadPage, threadResponse } from '../wire/responses/session-responses.ts';
import { toThreadId } from '../wire/wire-event.ts';
import { pagination, toWireTime } from '../wire/wire-schemas.ts';
import { getWorkspaceSession } from './session-lookup.ts';
import { toWireStatus, toSessionUsage, WIRE_STATUSES } from './to-wire-session.ts';
import { readSessionAgent } from './workspace-agents.ts';

const DEFAULT_LIMIT = 20;

const list = v.object({
  ...pagination,
  statuses: v.optional(
    v.array(v.picklist(WIRE_STATUSES, `must be one of ${WIRE_STATUSES.join(', ')}`)),
  ),
});

type Call = Pick<RouteCall<unknown, unknown>, 'caller' | 'params'>;

/** Routes for threads: the session itself, and one thread for each agent that it called. */
export function threadRoutes(context: ServerContext): readonly HttpRoute[] {
  const { runtime } = context;

  /** @throws HttpError 404 */
  const getThread = async (
    call: Call,
  ): Promise<{ readonly session: ManagedSession; readonly thread: ManagedSession }> => {
    const session = await getWorkspaceSession(context, call);
    const id = call.params('thread_id');
    const thread = await findThread(context, session, id);
    if (thread === undefined) throw notFound('thread', id);
    return { session, thread };
  };

  return [
    defineRoute(
      'GET /v1/sessions/{session_id}/threads: List the threads of a session, its own first',
      {
        response: threadPage,
        query: list,
        run: async (call) => {
          const { limit = DEFAULT_LIMIT, page, statuses } = call.query;
          const session = await getWorkspaceSession(context, call);
          const all = await listThreads(context, session);
          // The last thread of a page may have another status by now.
          const before =
            page === undefined ? -1 : all.findIndex((one) => toThreadId(one.id) === page);
          if (page !== undefined && before === -1) throw invalidPageError();
          const threads = all
            .slice(before + 1)
            .filter(({ status }) => statuses?.includes(toWireStatus(status)) ?? true);
          const pageThreads = threads.slice(0, limit);
          const last = pageThreads.at(-1);
          const hasMore = threads.length > limit && last !== undefined;
          return {
            data: await Promise.all(
              pageThreads.map(async (one) => toWireThread(context, session, one)),
            ),
            next_page: hasMore ? toThreadId(last.id) : null,
          };
        },
      },
    ),
    defineRoute('GET /v1/sessions/{session_id}/threads/{thread_id}: Read a thread', {
      response: threadResponse,
      run: async (call) => {
        const { session, thread } = await getThread(call);
        return toWireThread(context, session, thread);
      },
    }),
    defineRoute(
      'POST /v1/sessions/{session_id}/threads/{thread_id}/archive: Stop a thread for ever',
      {
        response: threadResponse,
        scopes: SESSION_WRITE_SCOPES,
        run: async (call) => {
          const { session, thread } = await getThread(call);
          if (thread.id === session.id)
            throw new HttpError(
              400,
              'This is the thread of the session itself. Archive the session instead.',
            );
          if (thread.status !== 'archived') await runtime.archive(toSessionRef(thread));
          return toWireThread(context, session, await runtime.getSession(toSessionRef(thread)));
        },
      },
    ),
    defineRoute(
      'GET /v1/sessions/{session_id}/threads/{thread_id}/events: List the events of a thread',
      {
        response: sessionEventPage,
        query: listEventsQuery,
        run: async (call) => listEvents(context, (await getThread(call)).thread, call.query),
      },
    ),
    defineRoute(
      'GET /v1/sessions/{session_id}/threads/{thread_id}/stream: Events of a thread as they happen',
      {
        response: streamedEvent,
        query: streamEventsQuery,
        streams: true,
        run: async (call) => streamEvents(context, (await getThread(call)).thread, call),
      },
    ),
  ];
}

async function toWireThread(
  context: ServerContext,
  session: ManagedSession,
  thread: ManagedSession,
): Promise<Wire<'SessionThread'>> {
  const { createdAt, updatedAt, status } = thread;
  const [agent, usage] = await Promise.all([
    readSessionAgent(context, thread),
    context.runtime.usage(toSessionRef(thread)),
  ]);
  const { multiagent: _, ...snapshot } = agent;
  return {
    id: toThreadId(thread.id),
    type: 'session_thread',
    session_id: session.id,
    parent_thread_id: thread.id === session.id ? null : toThreadId(session.id),
    agent: snapshot,
    status: toWireStatus(status),
    stats: { duration_seconds: Math.max(0, updatedAt - createdAt) / 1000 },
    usage: toSessionUsage(usage),
    workflow_run_id: null,
    last_seq: thread.lastSeq,
    created_at: toWireTime(createdAt),
    updated_at: toWireTime(updatedAt),
    archived_at: status === 'archived' ? toWireTime(updatedAt) : null,
  };
}
