import type { Content, StateDelta } from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import type { ManagedSession } from '../../managed/index.ts';
import { toSessionRef } from '../events/session-log.ts';
import type { AppendReceipt } from '../../runtime/index.ts';
import type { ServerContext } from '../routing/server-context.ts';

/** Something that was said or set outside the session, before or between its turns. */
export interface HistoryEntry {
  /** `user`, or the name of an agent. */
  readonly author: string;
  readonly content?: Content | undefined;
  readonly stateDelta?: StateDelta | undefined;
}

/**
 * Adds entries to the conversation of a session, in one transaction. They start no turn, and the next message comes
 * after them. Returns the ids of their events, which the log has soon.
 * @param key the same for each repetition: entries that were added before are not added again
 * @throws InvalidInputError for invalid content; IllegalTransitionError for a closed session
 */
export async function appendHistory(
  { runtime }: ServerContext,
  session: ManagedSession,
  entries: readonly HistoryEntry[],
  key: string,
): Promise<readonly string[]> {
  if (entries.length === 0) return [];
  const { id, userId: user } = toSessionRef(session);
  const batch = runtime.runtime.batch();
  const handle = await batch.session(id, { user });
  const added: Promise<AppendReceipt>[] = [];
  for (const [index, { author, content, stateDelta }] of entries.entries()) {
    const event = { author, ...omitUndefined({ content, stateDelta }) };
    const { done } = await batch.add(async () =>
      handle.append(event, { dedupeKey: `${key}.${index}` }),
    );
    added.push(done);
  }
  await batch.submit();
  return (await Promise.all(added)).map(({ eventId }) => eventId);
}

/** Waits until the log of a session has these appended events, or the signal aborts. */
export async function waitForHistory(
  { runtime }: ServerContext,
  session: ManagedSession,
  eventIds: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const missing = new Set(eventIds);
  if (missing.size === 0) return;
  for await (const one of runtime.streamLog(toSessionRef(session), 0, { signal })) {
    if (one.type === 'event.appended') missing.delete(one.event.id);
    if (missing.size === 0) return;
  }
}
