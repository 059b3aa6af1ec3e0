import { conversation, state, turnCurrent } from '../../agents/internal.ts';
import type { Rewind } from '../../agents/index.ts';
import { getStateScope, InvalidInputError } from '../../core/index.ts';
import type { JsonObject, SessionKey } from '../../core/index.ts';
import { listIn, mapIn } from '../../net/index.ts';
import type { CompiledNet, JournalRecord } from '../../net/index.ts';
import type { Store } from '../../store/index.ts';
import { hydrateFor, markingBefore } from './hydrate.ts';

/**
 * Plans a rewind to before an invocation. Conversation length and state are read from the journal, so they are exact.
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
