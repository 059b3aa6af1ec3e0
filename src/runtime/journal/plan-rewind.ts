import { conversation, state, turnCurrent } from '../../agents/internal.ts';
import type { Rewind } from '../../agents/index.ts';
import { getStateScope, InvalidInputError } from '../../core/index.ts';
import type { JsonObject, SessionKey } from '../../core/index.ts';
import { listIn, mapIn } from '../../net/index.ts';
import type { CompiledNet, JournalRecord } from '../../net/index.ts';
import type { Store } from '../../store/index.ts';
import { hydrateFor, markingBefore } from './hydrate.ts';
import { JournalTrimmedError } from './journal-trimmed-error.ts';

/**
 * Plans a rewind to before an invocation. Conversation length and state are read from the journal, so they are exact.
 * @throws JournalTrimmedError when its records were removed
 * @throws InvalidInputError when there is no such invocation, or the conversation was compacted or rewound since
 */
export async function planRewind(
  store: Store,
  key: SessionKey,
  net: CompiledNet,
  beforeInvocationId: string,
): Promise<Rewind> {
  const past = await markingBefore(store, key, net, (record) =>
    beginsTurn(record, beforeInvocationId),
  );
  if (past === undefined) {
    await assertNotTrimmed(store, key, beforeInvocationId);
    throw new InvalidInputError(
      'beforeInvocationId',
      `"${beforeInvocationId}" is not an invocation of session "${key.sessionId}": take one from its log.`,
    );
  }
  const before = listIn(past, conversation.name);
  const now = listIn(await hydrateFor(store, key, net), conversation.name);
  if (before.origins.some((origin, index) => now.origins[index] !== origin)) {
    throw new InvalidInputError(
      'beforeInvocationId',
      `"${beforeInvocationId}" is before a summary or an earlier rewind: fork the session from its log instead.`,
    );
  }
  const sessionState: JsonObject = Object.fromEntries(
    Object.entries(mapIn(past, state.name)).filter(([key]) => getStateScope(key) === 'session'),
  );
  return { beforeInvocationId, conversationLength: before.items.length, state: sessionState };
}

/** @throws JournalTrimmedError if the log has the invocation, and the journal does not */
async function assertNotTrimmed(
  store: Store,
  key: SessionKey,
  invocationId: string,
): Promise<void> {
  let isRemoved = false;
  let hasRecords = false;
  for await (const { records, events } of store.steps(key, 0)) {
    const begun = events.flatMap((event) =>
      event.type === 'turn.started' ? event.invocationId : [],
    );
    const [next] = begun;
    // The turn that ends with the base began before it.
    if (hasRecords && isRemoved && next !== undefined)
      throw new JournalTrimmedError(key, `the beginning of invocation "${invocationId}"`, next);
    isRemoved ||= begun.includes(invocationId);
    hasRecords ||= records.length > 0;
  }
  if (isRemoved)
    throw new JournalTrimmedError(key, `the beginning of invocation "${invocationId}"`, undefined);
}

function beginsTurn(record: JournalRecord, invocationId: string): boolean {
  if (record.kind !== 'fired') return false;
  return (record.give ?? []).some(
    ([place, value]) =>
      place === turnCurrent.name &&
      typeof value === 'object' &&
      value !== null &&
      Reflect.get(value, 'invocationId') === invocationId &&
      Reflect.get(value, 'round') === 0,
  );
}
