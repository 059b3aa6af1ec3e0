import type { InvocationId, LogEvent, PartialEvent, Seq, SessionKey } from '../core/index.ts';
import type { Session } from '../runtime/index.ts';
import type { Store } from '../store/index.ts';

/** Whether an invocation is in the log, and where it ended. */
export async function invocationState(
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

/** The log from there on as far as it is an invocation's, to its end, or until it waits for other calls than these. */
export async function* invocationFrom(
  session: Session,
  from: Seq,
  invocationId: InvocationId,
  answered: readonly string[],
): AsyncGenerator<LogEvent | PartialEvent> {
  for await (const event of session.events(from)) {
    if (event.type === 'partial.reset') yield event;
    if (!('invocationId' in event) || event.invocationId !== invocationId) continue;
    yield event;
    if (event.type === 'turn.ended') return;
    if (event.type === 'turn.waiting' && !event.callIds.some((id) => answered.includes(id))) return;
  }
}

/** What of these events is an invocation's. */
export async function* onlyOf(
  events: AsyncIterable<LogEvent | PartialEvent>,
  invocationId: InvocationId,
): AsyncGenerator<LogEvent | PartialEvent> {
  for await (const event of events) {
    if ('invocationId' in event && event.invocationId === invocationId) yield event;
  }
}
