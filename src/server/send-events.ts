import type { JsonObject } from '../core/index.ts';
import type { EventBatch, ManagedSession, UserEvent } from '../managed/index.ts';
import { AlreadyAnsweredError } from '../store/index.ts';
import { acceptedEvent, aboutAccepted, withCall } from './accepted-event.ts';
import { findTarget } from './event-target.ts';
import { toUserEvent } from './event-schemas.ts';
import type { WireUserEvent } from './event-schemas.ts';
import { isGivenAnswer, mayBeGivenAnswer } from './given-answer.ts';
import type { ServerParts } from './server-parts.ts';
import { faceOf } from './session-log.ts';
import { WireError } from './wire-error.ts';
import { wireEventId } from './wire-event.ts';

/** How often a send is checked anew when somebody else answers one of its calls meanwhile. */
const MAX_CHECKS = 3;

/**
 * Puts events before a session and its threads, all of them or none. A repetition of the same attempt changes nothing
 * and gets the same reply.
 * @throws WireError, and what `EventBatch.add` throws
 */
export async function sendEvents(
  parts: ServerParts,
  session: ManagedSession,
  events: readonly WireUserEvent[],
  attempt: string,
): Promise<readonly JsonObject[]> {
  const { attempts, runtime } = parts;
  const workspace = session.owner.userId;
  for (let check = 1; check <= MAX_CHECKS; check++) {
    const earlier = await attempts.find(workspace, attempt);
    if (Array.isArray(earlier)) return repliesTo(events, earlier.map(String), attempt);
    const batch = runtime.eventBatch();
    const ids: string[] = [];
    const taken: TakenEvent[] = [];
    for (const [index, event] of events.entries()) {
      const one = await take(parts, batch, { session, event, key: `${attempt}-${index}`, taken });
      taken.push(one);
      ids.push(one.id);
    }
    try {
      const result = await batch.submit([attempts.keeping(workspace, attempt, ids)]);
      if (result.ok) return repliesTo(events, ids, attempt);
      // The same attempt was made at the same time: its reply is the reply.
    } catch (error) {
      if (!(error instanceof AlreadyAnsweredError) || check === MAX_CHECKS) throw error;
    }
  }
  throw new WireError(503, 'The session changes too fast: try again.', { retryAfterSeconds: 1 });
}

/** An event of a request that was checked. */
interface TakenEvent {
  readonly id: string;
  readonly target: ManagedSession;
  readonly event: UserEvent;
}

/** Adds an event to the batch, unless it repeats an answer that was given. */
async function take(
  parts: ServerParts,
  batch: EventBatch,
  one: {
    readonly session: ManagedSession;
    readonly event: WireUserEvent;
    readonly key: string;
    readonly taken: readonly TakenEvent[];
  },
): Promise<TakenEvent> {
  const { key, taken } = one;
  const target = await findTarget(parts, one.session, one.event);
  const { face, uid } = await faceOf(parts, target);
  const event = await withCall(toUserEvent(one.event), async (id) => face.callOf(id));
  try {
    const added = await batch.add(target.id, event, { dedupeKey: key });
    return { id: wireEventId(uid, aboutAccepted(event, key, added)), target, event };
  } catch (error) {
    if (!mayBeGivenAnswer(error)) throw error;
    const before = taken.filter((other) => other.target.id === target.id);
    const isGiven = await isGivenAnswer(
      parts,
      target,
      event,
      before.map((other) => other.event),
    );
    if (!isGiven) throw error;
    return { id: wireEventId(uid, aboutAccepted(event, key)), target, event };
  }
}

function repliesTo(
  events: readonly WireUserEvent[],
  ids: readonly string[],
  attempt: string,
): readonly JsonObject[] {
  return events.map((event, index) =>
    acceptedEvent(toUserEvent(event), ids[index] ?? '', `${attempt}-${index}`),
  );
}
