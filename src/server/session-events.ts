import * as v from 'valibot';
import { InvalidInputError } from '../core/index.ts';
import type { JsonObject, LogEvent, Seq } from '../core/index.ts';
import { ManagedSessionNotFoundError } from '../managed/index.ts';
import type { ManagedSession, StreamedEvent } from '../managed/index.ts';
import { acceptedEvents, acceptedSince } from './accepted-events.ts';
import { eventStream } from './event-stream.ts';
import type { RouteCall } from './route.ts';
import type { ServerParts } from './server-parts.ts';
import { faceOf, netEventsOf, readLog } from './session-log.ts';
import type { WireEvent } from './wire-event.ts';
import type { EventPlace } from './wire-face.ts';
import type { CreatedAt } from './wire-schemas.ts';
import { createdAt, isWithin, name, order, paging } from './wire-schemas.ts';

const DEFAULT_LIMIT = 20;
/** A list from the end reads so many entries of the log at once. */
const ENTRIES_IN_CHUNK = 256;

interface ListQuery extends CreatedAt {
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

/** `net`: with what the session's net did. */
const include = v.optional(v.picklist(['net'], 'must be net'));

const eventId = v.optional(name(256));

/** How events are listed. */
export const listQuery: v.GenericSchema<unknown, ListQuery> = v.object({
  ...paging,
  ...createdAt,
  order,
  types: v.optional(v.array(name(128))),
  after_id: eventId,
  include,
});

const previews = v.picklist(
  ['agent.message', 'agent.thinking'],
  'must be agent.message or agent.thinking',
);

/** From where events are streamed, and which of them are shown while they are made. */
export const streamQuery: v.GenericSchema<unknown, StreamQuery> = v.object({
  event_deltas: v.optional(v.array(previews)),
  after_id: eventId,
  from_seq: v.optional(
    v.pipe(v.string(), v.digits('must be a whole number'), v.transform(Number), v.safeInteger()),
  ),
  include,
});

/**
 * The events of a session, in pages: those of the log in its order, then those that were accepted and are not processed,
 * in the order they were accepted in. `order=desc` is the reverse. Over all pages of a list each event comes once, also
 * when it is processed meanwhile.
 * @throws InvalidInputError for a page that is none
 */
export async function listEvents(
  parts: ServerParts,
  session: ManagedSession,
  query: ListQuery,
): Promise<JsonObject> {
  const { limit = DEFAULT_LIMIT, order = 'asc', types } = query;
  const withNet = query.include === 'net';
  if (withNet && order === 'desc')
    throw new InvalidInputError('include', 'goes forwards only: leave out order=desc.');
  // Before the log: what is processed meanwhile is there.
  const accepted = await acceptedEvents(parts, session);
  const { lastSeq } = await parts.runtime.getSession(session.id);
  const mark = await markIn(parts, session, query);
  const shown =
    order === 'asc'
      ? forwards(parts, session, { mark, accepted, lastSeq, withNet })
      : backwards(parts, session, { mark, accepted, lastSeq });
  const found: ShownAt[] = [];
  let isPast = mark?.id === undefined;
  for await (const one of shown) {
    const { event, at } = one;
    if (!isPast) {
      isPast = event.id === mark?.id;
      continue;
    }
    if (mark?.accepted.has(event.id) === true) continue;
    if (!isWithin(at ?? parts.clock.now(), query)) continue;
    if (!(types?.includes(event.type) ?? true)) continue;
    found.push(one);
    if (found.length > limit) break;
  }
  if (!isPast)
    throw new InvalidInputError('page', 'names no event of this session: begin its list anew.');
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  // Those that were shown before they were processed: they are not shown again where they stand then.
  const shownEarly = [
    ...(mark?.accepted ?? []),
    ...page.flatMap(({ event, at }) => (at === undefined ? [event.id] : [])),
  ];
  const data = page.map(({ event }) => event);
  return { data, next_page: hasMore ? pageAfter(last, shownEarly) : null };
}

interface ShownAt {
  readonly event: WireEvent;
  /** When it was processed; undefined when it is not. */
  readonly at: number | undefined;
}

/** After which event a page begins. */
interface Mark {
  /** Undefined while nothing of the log was shown. */
  readonly place: EventPlace | undefined;
  /** Up to where the log went when the page before was made; undefined for a place that is no page's. */
  readonly end?: Seq;
  /** Events that were shown before they were processed. */
  readonly accepted: ReadonlySet<string>;
  /** What the net did has no place of its own: the page begins after this event, wherever it comes after the place. */
  readonly id?: string;
}

/** A place in the log, or the end of it when the page before went beyond. */
function pageAfter({ event, at }: ShownAt, accepted: readonly string[]): string {
  const early = accepted.map((id) => `~${id.slice(ID_PREFIX.length)}`).join('');
  return `${event.seq}${early}:${at === undefined ? '' : event.id}`;
}

const ID_PREFIX = 'sevt_';

/** @throws InvalidInputError when it is no event of this session */
async function markIn(
  parts: ServerParts,
  session: ManagedSession,
  { page, after_id, include: more }: ListQuery,
): Promise<Mark | undefined> {
  const withNet = more === 'net';
  if (page === undefined && after_id === undefined) return undefined;
  const [, seq, early = '', id = ''] =
    /^(?:(\d{1,15})((?:~\w+)*):)?(\w*)$/.exec(page ?? after_id ?? '') ?? [];
  const accepted = new Set(
    early.split('~').flatMap((one) => (one === '' ? [] : [`${ID_PREFIX}${one}`])),
  );
  if (seq !== undefined && id === '')
    return { place: { seq: Number(seq), index: Infinity }, end: Number(seq), accepted };
  if (seq !== undefined && withNet)
    return { place: { seq: Number(seq) - 1, index: Infinity }, accepted, id };
  const { place, seen } = await placeAfter(
    parts,
    session,
    page === undefined ? 'after_id' : 'page',
    id,
  );
  return { place, accepted: new Set([...accepted, ...seen]) };
}

/** Where a reader goes on after an event, and which event it has that the log does not. @throws InvalidInputError */
async function placeAfter(
  parts: ServerParts,
  session: ManagedSession,
  field: string,
  id: string,
): Promise<{ readonly place: EventPlace; readonly seen: ReadonlySet<string> }> {
  const { face } = await faceOf(parts, session);
  const logged = await face.find(id);
  if (logged !== undefined) return { place: logged, seen: new Set() };
  const since = await acceptedSince(parts, session, id);
  if (since !== undefined) return { place: { seq: since, index: Infinity }, seen: new Set([id]) };
  // It was processed between the two looks.
  const place = await face.find(id);
  if (place !== undefined) return { place, seen: new Set() };
  throw new InvalidInputError(
    field,
    `"${id.slice(0, 64)}" is no event of this session: read its events to see which there are.`,
  );
}

interface ListRange {
  readonly mark: Mark | undefined;
  readonly accepted: readonly WireEvent[];
  readonly lastSeq: Seq;
}

async function* forwards(
  parts: ServerParts,
  session: ManagedSession,
  { mark, accepted, lastSeq, withNet }: ListRange & { readonly withNet: boolean },
): AsyncGenerator<ShownAt, void, undefined> {
  const { face, uid } = await faceOf(parts, session);
  const { seq: after = 0, index: afterIndex = Infinity } = mark?.place ?? {};
  const from = afterIndex === Infinity ? after : after - 1;
  const net = withNet ? netEventsOf(parts, session, { uid, from }) : undefined;
  let end = lastSeq;
  for await (const entry of readLog(parts, session, from)) {
    end = Math.max(end, entry.seq);
    for (const event of (await net?.upTo(entry.seq)) ?? [])
      if (entry.seq > after) yield { event, at: entry.at };
    for (const [index, event] of (await face.show(entry)).entries())
      if (entry.seq > after || index > afterIndex) yield { event, at: entry.at };
  }
  for (const event of accepted) {
    if ((await face.find(event.id)) === undefined)
      yield { event: { ...event, seq: end }, at: undefined };
  }
}

async function* backwards(
  parts: ServerParts,
  session: ManagedSession,
  { mark, accepted, lastSeq }: ListRange,
): AsyncGenerator<ShownAt, void, undefined> {
  const { face } = await faceOf(parts, session);
  const { seq: before = lastSeq, index: beforeIndex = Infinity } = mark?.place ?? {};
  const isAmongAccepted = mark === undefined || mark.end !== undefined;
  for (const event of isAmongAccepted ? accepted.toReversed() : []) {
    const place = await face.find(event.id);
    if (place === undefined || place.seq > before)
      yield { event: { ...event, seq: lastSeq }, at: undefined };
  }
  for (let end = before; end > 0; end -= ENTRIES_IN_CHUNK) {
    const chunk: LogEvent[] = [];
    for await (const entry of readLog(parts, session, Math.max(0, end - ENTRIES_IN_CHUNK))) {
      if (entry.seq > end) break;
      chunk.push(entry);
    }
    for (const entry of chunk.toReversed())
      for (const [index, event] of [...(await face.show(entry)).entries()].toReversed())
        if (entry.seq < before || index < beforeIndex) yield { event, at: entry.at };
  }
}

/** The events of a session after a point, and then as they happen. @throws InvalidInputError for a point that is none */
export async function streamEvents(
  parts: ServerParts,
  session: ManagedSession,
  { query, request, cut }: Pick<RouteCall<StreamQuery, unknown>, 'query' | 'request' | 'cut'>,
): Promise<Response> {
  const { runtime, clock, closing, keepAliveMs, stallMs } = parts;
  const { face, uid } = await faceOf(parts, session);
  const { after_id, from_seq, event_deltas = [], include: more } = query;
  const lastId = request.headers.get('last-event-id') ?? after_id;
  const { place: after, seen } =
    lastId === undefined || lastId === ''
      ? { place: { seq: from_seq ?? session.lastSeq, index: Infinity }, seen: new Set<string>() }
      : await placeAfter(parts, session, 'after_id', lastId);
  return eventStream({
    log: (from, signal) =>
      untilDeleted(
        runtime.streamLog(session.id, from, { signal, partials: event_deltas.length > 0 }),
        session.lastSeq,
      ),
    face,
    after,
    seen,
    net:
      more === 'net'
        ? netEventsOf(parts, session, {
            uid,
            from: after.index === Infinity ? after.seq : after.seq - 1,
          })
        : undefined,
    previews: new Set<string>(event_deltas),
    signals: [request.signal, closing],
    clock,
    keepAliveMs,
    stallMs,
    cut,
  });
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
