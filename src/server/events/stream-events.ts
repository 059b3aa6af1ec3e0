import * as v from 'valibot';
import type { Seq } from '../../core/index.ts';
import { ManagedSessionNotFoundError } from '../../managed/index.ts';
import type { ManagedSession, StreamedLogEvent } from '../../managed/index.ts';
import type { RouteCall } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { eventIdParameter, includeParameter, findPositionAfter } from './event-cursor.ts';
import { eventStream } from './event-stream.ts';
import { openProjection, openNetEvents } from './session-log.ts';

interface StreamQuery {
  readonly event_deltas?: readonly string[] | undefined;
  readonly after_id?: string | undefined;
  readonly from_seq?: number | undefined;
  readonly include?: 'net' | undefined;
}

const previews = v.picklist(
  ['agent.message', 'agent.thinking'],
  'must be agent.message or agent.thinking',
);

/** Query parameters of an event stream. */
export const streamEventsQuery: v.GenericSchema<unknown, StreamQuery> = v.object({
  event_deltas: v.optional(v.array(previews)),
  after_id: eventIdParameter,
  from_seq: v.optional(
    v.pipe(v.string(), v.digits('must be a whole number'), v.transform(Number), v.safeInteger()),
  ),
  include: includeParameter,
});

/**
 * Streams the events of a session after a cursor, then new ones as they happen.
 * @throws InvalidInputError for an invalid cursor
 */
export async function streamEvents(
  context: ServerContext,
  session: ManagedSession,
  {
    query,
    request,
    isKeyValid,
    destroyConnection,
  }: Pick<
    RouteCall<StreamQuery, unknown>,
    'query' | 'request' | 'isKeyValid' | 'destroyConnection'
  >,
): Promise<Response> {
  const { runtime, clock, closing, keepAliveMs, readerTimeoutMs } = context;
  const { projection, uid } = openProjection(context, session);
  const { after_id, from_seq, event_deltas = [], include } = query;
  const lastId = request.headers.get('last-event-id') ?? after_id;
  const { position: after, seen } =
    lastId === undefined || lastId === ''
      ? { position: { seq: from_seq ?? session.lastSeq, index: Infinity }, seen: new Set<string>() }
      : await findPositionAfter(context, session, 'after_id', lastId);
  return eventStream({
    log: (from, signal) =>
      withDeletedEvent(
        runtime.streamLog(session, from, {
          signal,
          partials: event_deltas.length > 0,
        }),
        session.lastSeq,
      ),
    projection,
    after,
    seenIds: seen,
    net:
      include === 'net'
        ? openNetEvents(context, session, {
            uid,
            from: after.index === Infinity ? after.seq : after.seq - 1,
          })
        : undefined,
    previews: new Set<string>(event_deltas),
    signals: [request.signal, closing],
    isAllowed: isKeyValid,
    clock,
    keepAliveMs,
    readerTimeoutMs,
    destroyConnection,
  });
}

/**
 * The session existed when the stream was requested. If it is gone before the first event, it was deleted meanwhile.
 */
async function* withDeletedEvent(
  log: AsyncIterable<StreamedLogEvent>,
  lastSeq: Seq,
): AsyncGenerator<StreamedLogEvent, void, undefined> {
  try {
    yield* log;
  } catch (error) {
    if (!(error instanceof ManagedSessionNotFoundError)) throw error;
    yield { type: 'session.deleted', seq: lastSeq };
  }
}
