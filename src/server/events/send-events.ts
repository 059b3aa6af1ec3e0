import type { EventBatch, ManagedSession, UserEvent } from '../../managed/index.ts';
import { AlreadyAnsweredError } from '../../store/index.ts';
import type { IdempotentRequest } from '../idempotency/idempotent-request.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { toAcceptedEvent, acceptedEventKey, resolveCallIds } from '../wire/accepted-event.ts';
import type { Wire } from '../wire/component.ts';
import { toUserEvent } from '../wire/event-schemas.ts';
import type { WireUserEvent } from '../wire/event-schemas.ts';
import { wireEventId } from '../wire/wire-event.ts';
import { findEventTarget } from './event-target.ts';
import { isRepeatedAnswer, isAnswerConflict } from './repeated-answer.ts';
import { openProjection, toSessionRef } from './session-log.ts';

/** How often a send is repeated when another sender answers one of its calls meanwhile. */
const MAX_CHECKS = 3;

/** The events of one request. */
export interface EventsRequest {
  readonly session: ManagedSession;
  /** The batch that has read the session. */
  readonly batch: EventBatch;
  readonly events: readonly WireUserEvent[];
  readonly idempotentRequest: IdempotentRequest;
}

/**
 * Sends events to a session and its threads, all of them or none. A repetition of the same request has no effect and
 * gets the same response.
 * @throws AlreadyAnsweredError when other senders keep answering its calls, and what `EventBatch.add` throws
 */
export async function sendEvents(
  context: ServerContext,
  { session, events, idempotentRequest, ...request }: EventsRequest,
): Promise<readonly Wire<'AcceptedEvent'>[]> {
  let { batch } = request;
  for (let conflicts = 0; ; batch = context.runtime.eventBatch()) {
    const earlier = await idempotentRequest.findResult();
    const { key } = idempotentRequest;
    if (Array.isArray(earlier)) return toReplies(events, earlier.map(String), key);
    const ids = await addEvents(context, { session, batch, events, key });
    try {
      const result = await batch.submit([idempotentRequest.completion(ids)]);
      if (result.ok) {
        idempotentRequest.onCompleted(ids);
        return toReplies(events, ids, key);
      }
      // Another request with the same key or body was stored meanwhile. The next round returns its response if this is
      // a repetition of it.
      await idempotentRequest.read();
    } catch (error) {
      if (!(error instanceof AlreadyAnsweredError) || ++conflicts === MAX_CHECKS) throw error;
    }
  }
}

/** Adds events to a batch. Returns their ids. */
async function addEvents(
  context: ServerContext,
  {
    session,
    batch,
    events,
    key,
  }: Pick<EventsRequest, 'session' | 'batch' | 'events'> & { readonly key: string },
): Promise<readonly string[]> {
  const checked: CheckedEvent[] = [];
  for (const [index, event] of events.entries())
    checked.push(
      await addEvent(context, batch, { session, event, key: `${key}-${index}`, checked }),
    );
  return checked.map(({ id }) => id);
}

/** A checked event of the request. */
interface CheckedEvent {
  readonly id: string;
  readonly target: ManagedSession;
  readonly event: UserEvent;
}

/** Adds an event to the batch, unless it repeats an existing answer. */
async function addEvent(
  context: ServerContext,
  batch: EventBatch,
  one: {
    readonly session: ManagedSession;
    readonly event: WireUserEvent;
    readonly key: string;
    readonly checked: readonly CheckedEvent[];
  },
): Promise<CheckedEvent> {
  const { key, checked } = one;
  const target = await findEventTarget(context, one.session, one.event);
  const { projection, uid } = openProjection(context, target);
  const event = await resolveCallIds(toUserEvent(one.event), async (id) =>
    projection.resolveCallId(id),
  );
  try {
    const added = await batch.add(toSessionRef(target), event, { dedupeKey: key });
    return { id: wireEventId(uid, acceptedEventKey(event, key, added)), target, event };
  } catch (error) {
    if (!isAnswerConflict(error)) throw error;
    const before = checked.filter((other) => other.target.id === target.id);
    const isRepeated = await isRepeatedAnswer(
      context,
      target,
      event,
      before.map((other) => other.event),
    );
    if (!isRepeated) throw error;
    return { id: wireEventId(uid, acceptedEventKey(event, key)), target, event };
  }
}

function toReplies(
  events: readonly WireUserEvent[],
  ids: readonly string[],
  idempotencyKey: string,
): readonly Wire<'AcceptedEvent'>[] {
  return events.map((event, index) =>
    toAcceptedEvent(toUserEvent(event), ids[index] ?? '', `${idempotencyKey}-${index}`),
  );
}
