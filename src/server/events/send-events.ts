import type { EventBatch, ManagedSession, UserEvent } from '../../managed/index.ts';
import { AlreadyAnsweredError } from '../../store/index.ts';
import { HttpError } from '../http/http-error.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { toAcceptedEvent, acceptedEventKey, resolveCallIds } from '../wire/accepted-event.ts';
import type { Wire } from '../wire/component.ts';
import { toUserEvent } from '../wire/event-schemas.ts';
import type { WireUserEvent } from '../wire/event-schemas.ts';
import { wireEventId } from '../wire/wire-event.ts';
import { findEventTarget } from './event-target.ts';
import { isRepeatedAnswer, isAnswerConflict } from './repeated-answer.ts';
import { openProjection } from './session-log.ts';

/** How often a send is repeated when another sender answers one of its calls meanwhile. */
const MAX_CHECKS = 3;

/**
 * Sends events to a session and its threads, all of them or none. A repetition of the same request has no effect and
 * gets the same response.
 * @throws HttpError 503 when another sender keeps answering its calls, and what `EventBatch.add` throws
 */
export async function sendEvents(
  context: ServerContext,
  session: ManagedSession,
  events: readonly WireUserEvent[],
  idempotencyKey: string,
): Promise<readonly Wire<'AcceptedEvent'>[]> {
  const { idempotentResults, runtime } = context;
  const workspace = session.owner.userId;
  for (let check = 1; check <= MAX_CHECKS; check++) {
    const earlier = await idempotentResults.find(workspace, idempotencyKey);
    if (Array.isArray(earlier)) return toReplies(events, earlier.map(String), idempotencyKey);
    const batch = runtime.eventBatch();
    const ids: string[] = [];
    const checked: CheckedEvent[] = [];
    for (const [index, event] of events.entries()) {
      const one = await addEvent(context, batch, {
        session,
        event,
        key: `${idempotencyKey}-${index}`,
        checked,
      });
      checked.push(one);
      ids.push(one.id);
    }
    try {
      const result = await batch.submit([
        idempotentResults.insertion(workspace, idempotencyKey, ids),
      ]);
      if (result.ok) return toReplies(events, ids, idempotencyKey);
      // A concurrent request with the same key succeeded. The next round returns its response.
    } catch (error) {
      if (!(error instanceof AlreadyAnsweredError) || check === MAX_CHECKS) throw error;
    }
  }
  throw new HttpError(503, 'The session changed while the events were checked. Try again.', {
    retryAfterSeconds: 1,
  });
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
  const { projection, uid } = await openProjection(context, target);
  const event = await resolveCallIds(toUserEvent(one.event), async (id) =>
    projection.resolveCallId(id),
  );
  try {
    const added = await batch.add(target.id, event, { dedupeKey: key });
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
