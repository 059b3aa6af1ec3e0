import { answerIn, interruptIn } from '../../agents/internal.ts';
import { isJsonObject } from '../../core/index.ts';
import type { LogEventByType, SessionKey } from '../../core/index.ts';
import { hasName } from '../../net/internal.ts';
import type { InboxInput, Store } from '../../store/index.ts';

/** Number of recent events to search before the whole log is read. */
const RECENT_EVENTS = 500;

/**
 * Finds the `turn.waiting` event of the session's current wait. Undefined when no turn waits now, or when an answer
 * or an interrupt that ends the wait is in the inbox.
 */
export async function findCurrentWait(
  store: Store,
  key: SessionKey,
): Promise<LogEventByType<'turn.waiting'> | undefined> {
  // The inbox before the row: an input that is consumed in between then shows in the row.
  const inbox = await store.inbox(key, 0);
  const row = await store.find(key);
  if (row?.activity !== 'waiting' || row.status === 'quarantined') return undefined;
  const wait = await findLastWait(store, key, row.lastSeq);
  return wait === undefined || inbox.some(({ input }) => endsWait(input, wait)) ? undefined : wait;
}

async function findLastWait(
  store: Store,
  key: SessionKey,
  lastSeq: number,
): Promise<LogEventByType<'turn.waiting'> | undefined> {
  for (const from of [Math.max(0, lastSeq - RECENT_EVENTS), 0]) {
    let wait: LogEventByType<'turn.waiting'> | undefined;
    let isDecided = false;
    for await (const event of store.read(key, from)) {
      if (event.type === 'turn.waiting') wait = event;
      else if (['turn.started', 'turn.resumed', 'turn.ended'].includes(event.type))
        wait = undefined;
      else continue;
      isDecided = true;
    }
    if (isDecided) return wait;
  }
  return undefined;
}

/** True for an interrupt of the turn or an answer to one of its calls. A progress update does not end the wait. */
function endsWait(
  { place, value }: InboxInput,
  { invocationId, callIds }: LogEventByType<'turn.waiting'>,
): boolean {
  if (!isJsonObject(value)) return false;
  if (hasName(interruptIn, place)) return value['invocationId'] === invocationId;
  const { callId, isUpdate } = value;
  return (
    hasName(answerIn, place) &&
    isUpdate !== true &&
    typeof callId === 'string' &&
    callIds.includes(callId)
  );
}
