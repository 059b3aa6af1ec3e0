import * as v from 'valibot';
import { InvalidInputError } from '../core/index.ts';
import type { JsonObject, LogEvent, Seq } from '../core/index.ts';
import { ManagedSessionNotFoundError } from '../managed/index.ts';
import type { ManagedSession, StreamedEvent } from '../managed/index.ts';
import { cursorAfter } from './event-cursor.ts';
import { eventStream } from './event-stream.ts';
import type { RouteCall } from './route.ts';
import type { ServerParts } from './server-parts.ts';
import { faceOf, netEventsOf, readLog } from './session-log.ts';
import type { WireEvent } from './wire-event.ts';
import type { CreatedAt } from './wire-schemas.ts';
import { createdAt, isWithin, name, order, paging } from './wire-schemas.ts';

const DEFAULT_LIMIT = 20;

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

/** The events of a session from its beginning or its end, in pages. @throws InvalidInputError for a page that is none */
export async function listEvents(
  parts: ServerParts,
  session: ManagedSession,
  query: ListQuery,
): Promise<JsonObject> {
  const { limit = DEFAULT_LIMIT, page, order = 'asc', types, after_id } = query;
  const mark = markIn(page ?? after_id);
  const withNet = query.include === 'net';
  if (withNet && order === 'desc')
    throw new InvalidInputError('include', 'goes forwards only: leave out order=desc.');
  const found: WireEvent[] = [];
  let isPast = mark === undefined;
  for await (const shown of order === 'asc'
    ? forwards(parts, session, { mark, withNet })
    : backwards(parts, session, mark)) {
    if (!isPast) isPast = shown.event.id === mark?.id;
    else if (isWithin(shown.at, query) && (types?.includes(shown.event.type) ?? true))
      found.push(shown.event);
    if (found.length > limit) break;
  }
  if (!isPast)
    throw new InvalidInputError('page', 'names no event of this session: begin its list anew.');
  const data = found.slice(0, limit);
  const last = data.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return { data, next_page: hasMore ? `${last.seq}:${last.id}` : null };
}

/** After which event a page begins: its id, and its number where that is known. */
interface Mark {
  readonly id: string;
  readonly seq: number | undefined;
}

interface ShownAt {
  readonly event: WireEvent;
  readonly at: number;
}

function markIn(text: string | undefined): Mark | undefined {
  if (text === undefined) return undefined;
  const [, seq, id = ''] = /^(?:(\d{1,15}):)?(.*)$/s.exec(text) ?? [];
  return { id, seq: seq === undefined ? undefined : Number(seq) };
}

async function* forwards(
  parts: ServerParts,
  session: ManagedSession,
  { mark, withNet }: { readonly mark: Mark | undefined; readonly withNet: boolean },
): AsyncGenerator<ShownAt, void, undefined> {
  const { face, uid } = await faceOf(parts, session);
  const from = Math.max(0, (mark?.seq ?? 1) - 1);
  const net = withNet ? netEventsOf(parts, session, { uid, from }) : undefined;
  for await (const logged of readLog(parts, session, from)) {
    for (const event of (await net?.upTo(logged.seq)) ?? []) yield { event, at: logged.at };
    for (const event of await face.show(logged)) yield { event, at: logged.at };
  }
}

async function* backwards(
  parts: ServerParts,
  session: ManagedSession,
  mark: Mark | undefined,
): AsyncGenerator<ShownAt, void, undefined> {
  const { face } = await faceOf(parts, session);
  const log: LogEvent[] = [];
  for await (const logged of readLog(parts, session, 0)) {
    if (logged.seq > (mark?.seq ?? Infinity)) break;
    log.push(logged);
  }
  for (const logged of log.toReversed())
    for (const event of (await face.show(logged)).toReversed()) yield { event, at: logged.at };
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
