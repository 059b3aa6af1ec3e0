import { userIn } from '../../agents/internal.ts';
import { isJsonObject } from '../../core/index.ts';
import type { Seq, SessionKey } from '../../core/index.ts';
import { hasName } from '../../net/internal.ts';
import type { InboxInput, Store } from '../../store/index.ts';

/** Number of recent events to search before the whole log is read. */
const RECENT_EVENTS = 500;

/** The most events with which a log usually ends: that of the completion, and that of the archiving. */
const CLOSING_EVENTS = 2;

/** Finds the invocation of the last turn that began in a log. Undefined when no turn began. */
export async function findLastTurn(
  store: Store,
  key: SessionKey,
  lastSeq: Seq,
): Promise<string | undefined> {
  let turn: string | undefined;
  for (const from of [Math.max(0, lastSeq - RECENT_EVENTS), 0]) {
    for await (const event of store.read(key, from)) {
      if (event.type === 'turn.started') turn = event.invocationId;
    }
    if (turn !== undefined) return turn;
  }
  return undefined;
}

/** Finds the invocation of the oldest message in an inbox. Undefined when the inbox has no message. */
export function findNextTurn(inbox: readonly InboxInput[]): string | undefined {
  for (const { place, value } of inbox) {
    if (!hasName(userIn, place) || !isJsonObject(value)) continue;
    const { invocationId } = value;
    if (typeof invocationId === 'string') return invocationId;
  }
  return undefined;
}

/** Finds the log position just before the event that closed a session. Undefined when no event up to `upTo` did. */
export async function findSeqBeforeClosing(
  store: Store,
  key: SessionKey,
  upTo: Seq,
): Promise<Seq | undefined> {
  // An input that is rejected after the closing adds an event.
  for (const from of [Math.max(0, upTo - CLOSING_EVENTS), 0])
    for await (const { type, seq } of store.read(key, from))
      if (type === 'session.completed' || type === 'session.archived') return seq - 1;
  return undefined;
}

/**
 * Finds the log position just before the first event of an input that was sent earlier. Undefined when the input has no
 * event yet. 0 when the input names no invocation.
 */
export async function findSeqBeforeFirst(
  store: Store,
  key: SessionKey,
  value: unknown,
): Promise<Seq | undefined> {
  if (!isJsonObject(value)) return 0;
  const { invocationId } = value;
  if (typeof invocationId !== 'string') return 0;
  for await (const event of store.read(key, 0))
    if ('invocationId' in event && event.invocationId === invocationId) return event.seq - 1;
  return undefined;
}
