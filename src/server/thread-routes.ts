import * as v from 'valibot';
import type { JsonObject } from '../core/index.ts';
import type { ManagedSession } from '../managed/index.ts';
import { toWireSnapshot } from './agent-view.ts';
import { defineRoute } from './route.ts';
import type { Route, RouteCall } from './route.ts';
import type { ServerParts } from './server-parts.ts';
import { listEvents, listQuery, streamEvents, streamQuery } from './session-events.ts';
import { sessionOf, toWireStatus, usageOf, WIRE_STATUSES } from './session-view.ts';
import { threadIdOf } from './thread-id.ts';
import { notFound, WireError } from './wire-error.ts';
import { paging, toWireTime } from './wire-schemas.ts';

const DEFAULT_LIMIT = 20;

const list = v.object({
  ...paging,
  statuses: v.optional(
    v.array(v.picklist(WIRE_STATUSES, `must be of ${WIRE_STATUSES.join(', ')}`)),
  ),
});

type Call = Pick<RouteCall<unknown, unknown>, 'caller' | 'params'>;

/** Threads: what a session itself does, and what each agent that it called does. */
export function threadRoutes(parts: ServerParts): readonly Route[] {
  const { runtime } = parts;

  /** @throws WireError 404 */
  const threadOf = async (
    call: Call,
  ): Promise<{ readonly session: ManagedSession; readonly thread: ManagedSession }> => {
    const session = await sessionOf(parts, call);
    const id = call.params('thread_id');
    const thread = (await threadsOf(parts, session)).find((one) => threadIdOf(one.id) === id);
    if (thread === undefined) throw notFound('thread', id);
    return { session, thread };
  };

  return [
    defineRoute(
      'GET /v1/sessions/{session_id}/threads: List the threads of a session, its own first',
      {
        query: list,
        run: async (call) => {
          const { limit = DEFAULT_LIMIT, page, statuses } = call.query;
          const session = await sessionOf(parts, call);
          const threads = (await threadsOf(parts, session)).filter(
            ({ status }) => statuses?.includes(toWireStatus(status)) ?? true,
          );
          const start =
            page === undefined ? 0 : threads.findIndex((one) => threadIdOf(one.id) === page) + 1;
          const shown = threads.slice(start, start + limit);
          const last = shown.at(-1);
          const hasMore = start + limit < threads.length && last !== undefined;
          return {
            data: await Promise.all(shown.map(async (one) => toWireThread(parts, session, one))),
            next_page: hasMore ? threadIdOf(last.id) : null,
          };
        },
      },
    ),
    defineRoute('GET /v1/sessions/{session_id}/threads/{thread_id}: Read a thread', {
      run: async (call) => {
        const { session, thread } = await threadOf(call);
        return toWireThread(parts, session, thread);
      },
    }),
    defineRoute(
      'POST /v1/sessions/{session_id}/threads/{thread_id}/archive: Stop a thread for ever',
      {
        run: async (call) => {
          const { session, thread } = await threadOf(call);
          if (thread.id === session.id)
            throw new WireError(400, 'This is what the session itself does: archive the session.');
          if (thread.status !== 'archived') await runtime.archive(thread.id);
          return toWireThread(parts, session, await runtime.getSession(thread.id));
        },
      },
    ),
    defineRoute(
      'GET /v1/sessions/{session_id}/threads/{thread_id}/events: List the events of a thread',
      {
        query: listQuery,
        run: async (call) => listEvents(parts, (await threadOf(call)).thread, call.query),
      },
    ),
    defineRoute(
      'GET /v1/sessions/{session_id}/threads/{thread_id}/stream: Events of a thread as they happen',
      {
        query: streamQuery,
        streams: true,
        run: async (call) => streamEvents(parts, (await threadOf(call)).thread, call),
      },
    ),
  ];
}

/** What a session does itself, and the agents that it called, in the order of the calls. */
async function threadsOf(
  { runtime }: ServerParts,
  session: ManagedSession,
): Promise<readonly ManagedSession[]> {
  return [session, ...(await runtime.threads(session.id))];
}

/** The thread of a session by the id of its thread; undefined when it has none of that id. */
export async function findThread(
  parts: ServerParts,
  session: ManagedSession,
  threadId: string,
): Promise<ManagedSession | undefined> {
  return (await threadsOf(parts, session)).find((one) => threadIdOf(one.id) === threadId);
}

async function toWireThread(
  { runtime }: ServerParts,
  session: ManagedSession,
  thread: ManagedSession,
): Promise<JsonObject> {
  const { agentId, agentVersion, createdAt, updatedAt, status } = thread;
  const [agent, usage] = await Promise.all([
    runtime.getAgent(agentId, { version: agentVersion }),
    runtime.usage(thread.id),
  ]);
  const { multiagent: _, ...snapshot } = toWireSnapshot(agent);
  return {
    id: threadIdOf(thread.id),
    type: 'session_thread',
    session_id: session.id,
    parent_thread_id: thread.id === session.id ? null : threadIdOf(session.id),
    agent: snapshot,
    status: toWireStatus(status),
    stats: { duration_seconds: Math.max(0, updatedAt - createdAt) / 1000 },
    usage: usageOf(usage),
    workflow_run_id: null,
    last_seq: thread.lastSeq,
    created_at: toWireTime(createdAt),
    updated_at: toWireTime(updatedAt),
    archived_at: status === 'archived' ? toWireTime(updatedAt) : null,
  };
}
