import { isPetrichorError } from '../../core/index.ts';
import type { EventBatch, ManagedSession, UserEvent } from '../../managed/index.ts';
import { AlreadyAnsweredError } from '../../store/index.ts';
import type { Caller } from '../auth/api-keys.ts';
import type { IdempotentRequest } from '../idempotency/idempotent-request.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { toAcceptedEvent, acceptedEventKey, resolveCallIds } from '../wire/accepted-event.ts';
import type { Wire } from '../wire/component.ts';
import { toUserEvent } from '../wire/event-schemas.ts';
import type { WireUserEvent } from '../wire/event-schemas.ts';
import { wireEventId } from '../wire/wire-event.ts';
import { describeAnswer } from './describe-answer.ts';
import { findEventTarget } from './event-target.ts';
import { isRepeatedAnswer, isAnswerConflict } from './repeated-answer.ts';
import { openProjection, toSessionRef } from './session-log.ts';

/** The events of one request. */
export interface EventsRequest {
  readonly caller: Caller;
  readonly session: ManagedSession;
  /** The batch that has read the session. */
  readonly batch: EventBatch;
  readonly events: readonly WireUserEvent[];
  readonly idempotentRequest: IdempotentRequest;
}

/**
 * Sends events to a session and its threads, all of them or none. A repetition of the same request has no effect and
 * gets the same response.
 * @throws HttpError 400 when a call has another answer, and what `EventBatch.add` throws
 */
export async function sendEvents(
  context: ServerContext,
  { caller, session, events, idempotentRequest, ...request }: EventsRequest,
): Promise<readonly Wire<'AcceptedEvent'>[]> {
  let { batch } = request;
  // The calls that other senders answered meanwhile. The owner of the session may not have read the answers yet.
  const answered = new Map<string, AlreadyAnsweredError>();
  for (; ; batch = context.runtime.eventBatch()) {
    const earlier = await idempotentRequest.findResult();
    const { key } = idempotentRequest;
    if (Array.isArray(earlier)) return toReplies(events, earlier.map(String), key);
    const added = await addEvents(context, { caller, session, batch, events, key, answered });
    const ids = added.map(({ id }) => id);
    try {
      const result = await batch.submit([idempotentRequest.completion(ids)]);
      if (result.ok) {
        idempotentRequest.onCompleted(ids);
        for (const { target, event, isRepeated } of added) {
          const callId = findCallId(event);
          if (callId !== undefined && !isRepeated)
            context.answerAuthors.add(target.id, callId, caller);
        }
        return toReplies(events, ids, key);
      }
      // Another request with the same key or body was stored meanwhile. The next round returns its response if this is
      // a repetition of it.
      await idempotentRequest.read();
    } catch (error) {
      if (!(error instanceof AlreadyAnsweredError)) throw error;
      answered.set(error.callId, error);
    }
  }
}

/** Adds events to a batch. */
async function addEvents(
  context: ServerContext,
  {
    key,
    events,
    ...request
  }: Pick<EventsRequest, 'caller' | 'session' | 'batch' | 'events'> & {
    readonly key: string;
    readonly answered: ReadonlyMap<string, AlreadyAnsweredError>;
  },
): Promise<readonly CheckedEvent[]> {
  const checked: CheckedEvent[] = [];
  for (const [index, event] of events.entries())
    checked.push(await addEvent(context, { ...request, event, key: `${key}-${index}`, checked }));
  return checked;
}

/** A checked event of the request. */
interface CheckedEvent {
  readonly id: string;
  readonly target: ManagedSession;
  readonly event: UserEvent;
  /** It repeats an existing answer, and has no effect. */
  readonly isRepeated: boolean;
}

/** Adds an event to the batch, unless it repeats an existing answer. */
async function addEvent(
  context: ServerContext,
  one: Pick<EventsRequest, 'caller' | 'session' | 'batch'> & {
    readonly event: WireUserEvent;
    readonly key: string;
    readonly checked: readonly CheckedEvent[];
    readonly answered: ReadonlyMap<string, AlreadyAnsweredError>;
  },
): Promise<CheckedEvent> {
  const { key, checked, batch, caller, answered } = one;
  const target = await findEventTarget(context, one.session, one.event);
  const { projection, uid } = openProjection(context, target);
  const event = await resolveCallIds(toUserEvent(one.event), async (id) =>
    projection.resolveCallId(id),
  );
  const callId = findCallId(event) ?? '';
  try {
    const conflict = answered.get(callId);
    if (conflict !== undefined) throw conflict;
    const added = await batch.add(toSessionRef(target), event, { dedupeKey: key });
    return {
      id: wireEventId(uid, acceptedEventKey(event, key, added)),
      target,
      event,
      isRepeated: false,
    };
  } catch (error) {
    if (!isAnswerConflict(error)) throw error;
    const before = checked.filter((other) => other.target.id === target.id);
    const isRepeated = await isRepeatedAnswer(
      context,
      target,
      event,
      before.map((other) => other.event),
    );
    const author = context.answerAuthors.find(target.id, callId);
    const isByOther =
      event.type === 'user.tool_confirmation' && author !== undefined && author !== caller.keyId;
    const isAnswered = isPetrichorError(error) && error.code === 'already_answered';
    if (isRepeated && !isByOther)
      return { id: wireEventId(uid, acceptedEventKey(event, key)), target, event, isRepeated };
    if (!isAnswered && !isByOther) throw error;
    const shownId = findCallId(one.event) ?? callId;
    throw await describeAnswer(context, target, { callId, shownId });
  }
}

/** The call that an answer names. */
function findCallId(event: UserEvent | WireUserEvent): string | undefined {
  if (event.type === 'user.tool_confirmation' || event.type === 'user.tool_result')
    return event.tool_use_id;
  return event.type === 'user.custom_tool_result' ? event.custom_tool_use_id : undefined;
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
