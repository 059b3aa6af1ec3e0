import { userIn } from '../../agents/index.ts';
import { isJsonObject, parseContent } from '../../core/index.ts';
import type {
  Content,
  InvocationId,
  LogEvent,
  PartialEvent,
  Seq,
  SessionKey,
} from '../../core/index.ts';
import { valuesIn } from '../../net/index.ts';
import { hasName } from '../../net/internal.ts';
import { hydrate, findCurrentWait } from '../../runtime/internal.ts';
import type { Session } from '../../runtime/index.ts';
import type { Store } from '../../store/index.ts';

/** Looks for an invocation in the log. Returns where it ended, and `undefined` if it is not in the log. */
export async function findInvocation(
  store: Store,
  key: SessionKey,
  invocationId: InvocationId,
): Promise<{ readonly endedAt: Seq | undefined } | undefined> {
  let found = false;
  for await (const event of store.read(key, 0)) {
    if (!('invocationId' in event) || event.invocationId !== invocationId) continue;
    found = true;
    if (event.type === 'turn.ended') return { endedAt: event.seq };
  }
  return found ? { endedAt: undefined } : undefined;
}

/** Finds the message of an invocation that has not started: in the inbox, or in the net waiting for its turn. */
export async function findQueuedMessage(
  store: Store,
  key: SessionKey,
  invocationId: InvocationId,
): Promise<Content | undefined> {
  // Read in the direction in which a message moves, so it cannot be missed between the two.
  const inbox = (await store.inbox(key, 0)).flatMap(({ input }) =>
    hasName(userIn, input.place) ? [input.value] : [],
  );
  const waiting: readonly unknown[] = [...inbox, ...valuesIn(await hydrate(store, key), userIn)];
  const found = waiting.find(
    (value) => isJsonObject(value) && value['invocationId'] === invocationId,
  );
  return isJsonObject(found) ? parseContent(found['content']) : undefined;
}

/**
 * Yields the events of an invocation from a log position on, until it ends or waits for calls other than
 * `answeredCallIds`. If the invocation has not started and another turn waits, it yields the waiting event of that turn
 * and ends.
 */
export async function* followInvocation(
  { session, store }: { readonly session: Session; readonly store: Store },
  from: Seq,
  invocationId: InvocationId,
  answeredCallIds: readonly string[],
): AsyncGenerator<LogEvent | PartialEvent> {
  for await (const event of session.events(from)) {
    if (event.type === 'partial.reset') yield event;
    if (event.type === 'turn.waiting' && event.invocationId !== invocationId) {
      if ((await findCurrentWait(store, session.key))?.seq !== event.seq) continue;
      yield event;
      return;
    }
    if (!('invocationId' in event) || event.invocationId !== invocationId) continue;
    yield event;
    if (event.type === 'turn.ended') return;
    if (event.type === 'turn.waiting' && !event.callIds.some((id) => answeredCallIds.includes(id)))
      return;
  }
}

/** Yields those of the events that belong to an invocation. */
export async function* filterInvocation(
  events: AsyncIterable<LogEvent | PartialEvent>,
  invocationId: InvocationId,
): AsyncGenerator<LogEvent | PartialEvent> {
  for await (const event of events) {
    if ('invocationId' in event && event.invocationId === invocationId) yield event;
  }
}
