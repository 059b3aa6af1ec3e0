import { userIn } from '../../agents/vocabulary/messages.ts';
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
import { hydrate } from '../../runtime/journal/hydrate.ts';
import { findCurrentWait } from '../../runtime/log/find-current-wait.ts';
import type { Session } from '../../runtime/index.ts';
import type { Store } from '../../store/index.ts';

/** Whether an invocation is in the log, and where it ended. */
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

/** The message of an invocation that has not begun: it waits in the inbox, or in the net for its turn. */
export async function findQueuedMessage(
  store: Store,
  key: SessionKey,
  invocationId: InvocationId,
): Promise<Content | undefined> {
  // In the order in which a message goes on its way, so that none is missed between the two.
  const inbox = (await store.inbox(key, 0)).flatMap(({ input }) =>
    input.place === userIn.name ? [input.value] : [],
  );
  const waiting: readonly unknown[] = [...inbox, ...valuesIn(await hydrate(store, key), userIn)];
  const found = waiting.find(
    (value) => isJsonObject(value) && value['invocationId'] === invocationId,
  );
  return isJsonObject(found) ? parseContent(found['content']) : undefined;
}

/**
 * The log from there on as far as it is an invocation's, to its end, or until it waits for other calls than these. When
 * it has not begun and another turn waits, it is that turn's wait, and ends.
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

/** What of these events is an invocation's. */
export async function* filterInvocation(
  events: AsyncIterable<LogEvent | PartialEvent>,
  invocationId: InvocationId,
): AsyncGenerator<LogEvent | PartialEvent> {
  for await (const event of events) {
    if ('invocationId' in event && event.invocationId === invocationId) yield event;
  }
}
