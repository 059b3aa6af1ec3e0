import * as v from 'valibot';
import { InvalidInputError } from '../../core/index.ts';
import type { JsonObject, LogEvent, Seq } from '../../core/index.ts';
import { ManagedSessionNotFoundError } from '../../managed/index.ts';
import type { ManagedSession, StreamedLogEvent } from '../../managed/index.ts';
import { listAcceptedEvents, findResumeSeq } from './accepted-events.ts';
import { eventStream } from './event-stream.ts';
import type { RouteCall } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { openProjection, openNetEvents, readLog } from './session-log.ts';
import type { WireEvent } from '../wire/wire-event.ts';
import type { EventPosition } from '../wire/event-projection.ts';
import type { CreatedAtFilter } from '../wire/wire-schemas.ts';
import {
  createdAtFilter,
  matchesCreatedAt,
  nonEmptyText,
  sortOrder,
  pagination,
} from '../wire/wire-schemas.ts';

const DEFAULT_LIMIT = 20;
/** A descending list reads this many log entries at once. */
const CHUNK_SIZE = 256;

interface ListQuery extends CreatedAtFilter {
  readonly limit?: number | undefined;
  readonly page?: string | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  readonly types?: readonly string[] | undefined;
  readonly after_id?: string | undefined;
  readonly include?: 'net' | undefined;
}

interface StreamQuery {
  readonly event_deltas?: readonly string[] | undefined;
  readonly after_id?: string | undefined;
  readonly from_seq?: number | undefined;
  readonly include?: 'net' | undefined;
}

/** `net` includes net events. */
const include = v.optional(v.picklist(['net'], 'must be net'));

const eventId = v.optional(nonEmptyText(256));

/** Query parameters of an event list. */
export const listEventsQuery: v.GenericSchema<unknown, ListQuery> = v.object({
  ...pagination,
  ...createdAtFilter,
  order: sortOrder,
  types: v.optional(v.array(nonEmptyText(128))),
  after_id: eventId,
  include,
});

const previews = v.picklist(
  ['agent.message', 'agent.thinking'],
  'must be agent.message or agent.thinking',
);

/** Query parameters of an event stream. */
export const streamEventsQuery: v.GenericSchema<unknown, StreamQuery> = v.object({
  event_deltas: v.optional(v.array(previews)),
  after_id: eventId,
  from_seq: v.optional(
    v.pipe(v.string(), v.digits('must be a whole number'), v.transform(Number), v.safeInteger()),
  ),
  include,
});

/**
 * Lists the events of a session in pages: events of the log, then accepted, unprocessed events in the order of
 * acceptance. `order=desc` reverses it. Over all pages each event comes once, even if it is processed meanwhile.
 * @throws InvalidInputError for an invalid cursor, and for `include=net` with `order=desc`
 */
export async function listEvents(
  context: ServerContext,
  session: ManagedSession,
  query: ListQuery,
): Promise<JsonObject> {
  const { limit = DEFAULT_LIMIT, order = 'asc', types } = query;
  const withNet = query.include === 'net';
  if (withNet && order === 'desc')
    throw new InvalidInputError('include', 'does not support order=desc. Omit one of the two.');
  // Read before the log: an event that is processed meanwhile is then in the log.
  const accepted = await listAcceptedEvents(context, session);
  const { lastSeq } = await context.runtime.getSession(session.id);
  const cursor = await parseCursor(context, session, query);
  const shown =
    order === 'asc'
      ? listForward(context, session, { cursor, accepted, lastSeq, withNet })
      : listBackward(context, session, { cursor, accepted, lastSeq });
  const found: ListedEvent[] = [];
  let isPastCursor = cursor?.id === undefined;
  for await (const one of shown) {
    const { event, at } = one;
    if (!isPastCursor) {
      isPastCursor = event.id === cursor?.id;
      continue;
    }
    if (cursor?.accepted.has(event.id) === true) continue;
    if (!matchesCreatedAt(at ?? context.clock.now(), query)) continue;
    if (!(types?.includes(event.type) ?? true)) continue;
    found.push(one);
    if (found.length > limit) break;
  }
  if (!isPastCursor)
    throw new InvalidInputError(
      'page',
      'is not a cursor of this session. Start the list again without page.',
    );
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  // Events that were listed before they were processed. They are not listed again at their position in the log.
  const shownAsAccepted = [
    ...(cursor?.accepted ?? []),
    ...page.flatMap(({ event, at }) => (at === undefined ? [event.id] : [])),
  ];
  const data = page.map(({ event }) => event);
  return { data, next_page: hasMore ? toPageCursor(last, shownAsAccepted) : null };
}

interface ListedEvent {
  readonly event: WireEvent;
  /** When it was processed, in epoch milliseconds; undefined if it is not processed. */
  readonly at: number | undefined;
}

/** Start of a page. */
interface PageCursor {
  /** Position of the last log event of the previous pages; undefined if there was none. */
  readonly position: EventPosition | undefined;
  /** The log's last number when the previous page ended in unprocessed events; undefined otherwise. */
  readonly end?: Seq;
  /** Ids of events that were listed before they were processed. */
  readonly accepted: ReadonlySet<string>;
  /** Net events have no position. The page starts after the event with this id, wherever it is after `position`. */
  readonly id?: string;
}

/** Encodes a position in the log, or the end of the log if the page ended in unprocessed events. */
function toPageCursor({ event, at }: ListedEvent, accepted: readonly string[]): string {
  const early = accepted.map((id) => `~${id.slice(ID_PREFIX.length)}`).join('');
  return `${event.seq}${early}:${at === undefined ? '' : event.id}`;
}

const ID_PREFIX = 'sevt_';

/** @throws InvalidInputError when the cursor is not an event of this session */
async function parseCursor(
  context: ServerContext,
  session: ManagedSession,
  { page, after_id, include: more }: ListQuery,
): Promise<PageCursor | undefined> {
  const withNet = more === 'net';
  if (page === undefined && after_id === undefined) return undefined;
  const [, seq, early = '', id = ''] =
    /^(?:(\d{1,15})((?:~\w+)*):)?(\w*)$/.exec(page ?? after_id ?? '') ?? [];
  const accepted = new Set(
    early.split('~').flatMap((one) => (one === '' ? [] : [`${ID_PREFIX}${one}`])),
  );
  if (seq !== undefined && id === '')
    return { position: { seq: Number(seq), index: Infinity }, end: Number(seq), accepted };
  if (seq !== undefined && withNet)
    return { position: { seq: Number(seq) - 1, index: Infinity }, accepted, id };
  const { position, seen } = await findPositionAfter(
    context,
    session,
    page === undefined ? 'after_id' : 'page',
    id,
  );
  return { position, accepted: new Set([...accepted, ...seen]) };
}

/**
 * Finds the position after an event, and the ids of received events that are not in the log yet.
 * @throws InvalidInputError when the session has no such event
 */
async function findPositionAfter(
  context: ServerContext,
  session: ManagedSession,
  field: string,
  id: string,
): Promise<{ readonly position: EventPosition; readonly seen: ReadonlySet<string> }> {
  const { projection } = await openProjection(context, session);
  const logged = await projection.findPosition(id);
  if (logged !== undefined) return { position: logged, seen: new Set() };
  const since = await findResumeSeq(context, session, id);
  if (since !== undefined)
    return { position: { seq: since, index: Infinity }, seen: new Set([id]) };
  // It was processed between the two lookups.
  const position = await projection.findPosition(id);
  if (position !== undefined) return { position, seen: new Set() };
  throw new InvalidInputError(
    field,
    `"${id.slice(0, 64)}" is not an event of this session. List the events to see their ids.`,
  );
}

interface ListRange {
  readonly cursor: PageCursor | undefined;
  readonly accepted: readonly WireEvent[];
  readonly lastSeq: Seq;
}

async function* listForward(
  context: ServerContext,
  session: ManagedSession,
  { cursor, accepted, lastSeq, withNet }: ListRange & { readonly withNet: boolean },
): AsyncGenerator<ListedEvent, void, undefined> {
  const { projection, uid } = await openProjection(context, session);
  const { seq: after = 0, index: afterIndex = Infinity } = cursor?.position ?? {};
  const from = afterIndex === Infinity ? after : after - 1;
  const net = withNet ? openNetEvents(context, session, { uid, from }) : undefined;
  let end = lastSeq;
  for await (const entry of readLog(context, session, from)) {
    end = Math.max(end, entry.seq);
    for (const event of (await net?.readUpTo(entry.seq)) ?? [])
      if (entry.seq > after) yield { event, at: entry.at };
    for (const [index, event] of (await projection.project(entry)).entries())
      if (entry.seq > after || index > afterIndex) yield { event, at: entry.at };
  }
  for (const event of accepted) {
    if ((await projection.findPosition(event.id)) === undefined)
      yield { event: { ...event, seq: end }, at: undefined };
  }
}

async function* listBackward(
  context: ServerContext,
  session: ManagedSession,
  { cursor, accepted, lastSeq }: ListRange,
): AsyncGenerator<ListedEvent, void, undefined> {
  const { projection } = await openProjection(context, session);
  const { seq: before = lastSeq, index: beforeIndex = Infinity } = cursor?.position ?? {};
  const startsInAccepted = cursor === undefined || cursor.end !== undefined;
  for (const event of startsInAccepted ? accepted.toReversed() : []) {
    const position = await projection.findPosition(event.id);
    if (position === undefined || position.seq > before)
      yield { event: { ...event, seq: lastSeq }, at: undefined };
  }
  for (let end = before; end > 0; end -= CHUNK_SIZE) {
    const chunk: LogEvent[] = [];
    for await (const entry of readLog(context, session, Math.max(0, end - CHUNK_SIZE))) {
      if (entry.seq > end) break;
      chunk.push(entry);
    }
    for (const entry of chunk.toReversed())
      for (const [index, event] of [...(await projection.project(entry)).entries()].toReversed())
        if (entry.seq < before || index < beforeIndex) yield { event, at: entry.at };
  }
}

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
    destroyConnection,
  }: Pick<RouteCall<StreamQuery, unknown>, 'query' | 'request' | 'destroyConnection'>,
): Promise<Response> {
  const { runtime, clock, closing, keepAliveMs, readerTimeoutMs } = context;
  const { projection, uid } = await openProjection(context, session);
  const { after_id, from_seq, event_deltas = [], include: more } = query;
  const lastId = request.headers.get('last-event-id') ?? after_id;
  const { position: after, seen } =
    lastId === undefined || lastId === ''
      ? { position: { seq: from_seq ?? session.lastSeq, index: Infinity }, seen: new Set<string>() }
      : await findPositionAfter(context, session, 'after_id', lastId);
  return eventStream({
    log: (from, signal) =>
      withDeletedEvent(
        runtime.streamLog(session.id, from, { signal, partials: event_deltas.length > 0 }),
        session.lastSeq,
      ),
    projection,
    after,
    seenIds: seen,
    net:
      more === 'net'
        ? openNetEvents(context, session, {
            uid,
            from: after.index === Infinity ? after.seq : after.seq - 1,
          })
        : undefined,
    previews: new Set<string>(event_deltas),
    signals: [request.signal, closing],
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
