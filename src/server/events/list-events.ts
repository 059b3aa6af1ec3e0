import * as v from 'valibot';
import { InvalidInputError } from '../../core/index.ts';
import type { LogEvent, Seq } from '../../core/index.ts';
import type { ManagedSession } from '../../managed/index.ts';
import type { ServerContext } from '../routing/server-context.ts';
import type { Wire } from '../wire/component.ts';
import type { WireEvent } from '../wire/wire-event.ts';
import {
  createdAtFilter,
  matchesCreatedAt,
  nonEmptyText,
  sortOrder,
  pagination,
} from '../wire/wire-schemas.ts';
import type { CreatedAtFilter } from '../wire/wire-schemas.ts';
import { listAcceptedEvents } from './accepted-events.ts';
import { eventIdParameter, includeParameter, toPageCursor, parseCursor } from './event-cursor.ts';
import type { ListedEvent, PageCursor } from './event-cursor.ts';
import { openProjection, openNetEvents, readLog, toSessionRef } from './session-log.ts';

const DEFAULT_LIMIT = 20;
/** A descending list reads this many log entries first, then twice as many each time up to the maximum. */
const FIRST_CHUNK_SIZE = 16;
const MAX_CHUNK_SIZE = 256;

interface ListQuery extends CreatedAtFilter {
  readonly limit?: number | undefined;
  readonly page?: string | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  readonly types?: readonly string[] | undefined;
  readonly after_id?: string | undefined;
  readonly include?: 'net' | undefined;
}

/** Query parameters of an event list. */
export const listEventsQuery: v.GenericSchema<unknown, ListQuery> = v.object({
  ...pagination,
  ...createdAtFilter,
  order: sortOrder,
  types: v.optional(v.array(nonEmptyText(128))),
  after_id: eventIdParameter,
  include: includeParameter,
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
): Promise<Wire<'SessionEventPage'>> {
  const { limit = DEFAULT_LIMIT, order = 'asc', types } = query;
  const withNet = query.include === 'net';
  if (withNet && order === 'desc')
    throw new InvalidInputError('include', 'does not support order=desc. Omit one of the two.');
  // Read before the log: an event that is processed meanwhile is then in the log.
  const accepted = await listAcceptedEvents(context, session);
  const { lastSeq } = await context.runtime.getSession(toSessionRef(session));
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
  const { projection, uid } = openProjection(context, session);
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
  const { projection } = openProjection(context, session);
  const { seq: before = lastSeq, index: beforeIndex = Infinity } = cursor?.position ?? {};
  const startsInAccepted = cursor === undefined || cursor.end !== undefined;
  for (const event of startsInAccepted ? accepted.toReversed() : []) {
    const position = await projection.findPosition(event.id);
    if (position === undefined || position.seq > before)
      yield { event: { ...event, seq: lastSeq }, at: undefined };
  }
  let size = FIRST_CHUNK_SIZE;
  for (let end = before; end > 0;) {
    const chunk: LogEvent[] = [];
    const start = Math.max(0, end - size);
    for await (const entry of readLog(context, session, start)) {
      if (entry.seq > end) break;
      chunk.push(entry);
    }
    end = start;
    size = Math.min(2 * size, MAX_CHUNK_SIZE);
    for (const entry of chunk.toReversed())
      for (const [index, event] of [...(await projection.project(entry)).entries()].toReversed())
        if (entry.seq < before || index < beforeIndex) yield { event, at: entry.at };
  }
}
