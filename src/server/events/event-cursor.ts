import * as v from 'valibot';
import { InvalidInputError } from '../../core/index.ts';
import type { Seq } from '../../core/index.ts';
import type { ManagedSession } from '../../managed/index.ts';
import type { ServerContext } from '../routing/server-context.ts';
import type { EventPosition } from '../wire/event-projection.ts';
import type { WireEvent } from '../wire/wire-event.ts';
import { nonEmptyText } from '../wire/wire-schemas.ts';
import { findResumeSeq } from './accepted-events.ts';
import { openProjection } from './session-log.ts';

/** Query parameter: `net` includes net events. */
export const includeParameter: v.OptionalSchema<
  v.PicklistSchema<['net'], string>,
  undefined
> = v.optional(v.picklist(['net'], 'must be net'));

/** Query parameter: the id of an event. */
export const eventIdParameter: v.OptionalSchema<
  v.GenericSchema<unknown, string>,
  undefined
> = v.optional(nonEmptyText(256));

/** An event with the time of its processing. */
export interface ListedEvent {
  readonly event: WireEvent;
  /** When it was processed, in epoch milliseconds; undefined if it is not processed. */
  readonly at: number | undefined;
}

/** Start of a page. */
export interface PageCursor {
  /** Position of the last log event of the previous pages; undefined if there was none. */
  readonly position: EventPosition | undefined;
  /** The log's last number when the previous page ended in unprocessed events; undefined otherwise. */
  readonly end?: Seq;
  /** Ids of events that were listed before they were processed. */
  readonly accepted: ReadonlySet<string>;
  /** Net events have no position. The page starts after the event with this id, wherever it is after `position`. */
  readonly id?: string;
}

const ID_PREFIX = 'sevt_';

/** Encodes a position in the log, or the end of the log if the page ended in unprocessed events. */
export function toPageCursor({ event, at }: ListedEvent, accepted: readonly string[]): string {
  const early = accepted.map((id) => `~${id.slice(ID_PREFIX.length)}`).join('');
  return `${event.seq}${early}:${at === undefined ? '' : event.id}`;
}

/** @throws InvalidInputError when the cursor is not an event of this session */
export async function parseCursor(
  context: ServerContext,
  session: ManagedSession,
  {
    page,
    after_id,
    include,
  }: {
    readonly page?: string | undefined;
    readonly after_id?: string | undefined;
    readonly include?: 'net' | undefined;
  },
): Promise<PageCursor | undefined> {
  const withNet = include === 'net';
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
export async function findPositionAfter(
  context: ServerContext,
  session: ManagedSession,
  field: string,
  id: string,
): Promise<{ readonly position: EventPosition; readonly seen: ReadonlySet<string> }> {
  const { projection } = openProjection(context, session);
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
