import {
  calledAgentWaits,
  eventActions,
  eventIdOf,
  isJsonObject,
  toAdkEvent,
  toAdkSeconds,
} from '../core/index.ts';
import type {
  Event,
  EventActions,
  InvocationId,
  LogEvent,
  LogEventOf,
  Part,
} from '../core/index.ts';
import type { PendingCall, SessionRow, Store } from '../store/index.ts';

/** The announcement of a call that waits is looked for this far back before the whole log is read. */
const RECENT_EVENTS = 500;

/** Which turn waits, and whose message stands behind it. */
export interface WaitingTurn {
  readonly row: SessionRow;
  readonly waiting: LogEventOf<'turn.waiting'>;
  /** The calls of the session that wait, those of the agents that it called among them. */
  readonly pending: readonly PendingCall[];
  /** The invocation whose caller is told. */
  readonly invocationId: InvocationId;
  /** Names the event when calls of several agents wait. */
  readonly rootAgent: string;
}

/**
 * The event for a caller whose message is kept until the turn before it is over: it lists the calls that the turn waits
 * for, as `longRunningToolIds`, as function calls, and with what each asks for. `customMetadata.queuedBehind` names the
 * invocation that waits. The event is made of the log and not stored.
 */
export async function waitingEvent(
  store: Store,
  { row, waiting, pending, invocationId, rootAgent }: WaitingTurn,
): Promise<Event> {
  const announced = await announcements(store, row, waiting);
  const inOrder = [...new Set([...announced.keys(), ...waiting.callIds])];
  const calls = inOrder.flatMap((id) => pending.find(({ callId }) => callId === id) ?? []);
  const shown = [...announced.values()].flatMap((event) => toAdkEvent(event, row.uid) ?? []);
  return {
    id: eventIdOf(row.uid, waiting.seq),
    timestamp: toAdkSeconds(waiting.at),
    invocationId,
    ...whoWaits([...announced.values()], rootAgent),
    content: { role: 'model', parts: calls.map(callPart) },
    longRunningToolIds: inOrder,
    customMetadata: { queuedBehind: waiting.invocationId },
    actions: eventActions({
      requestedToolConfirmations: asked(shown, waiting, 'requestedToolConfirmations'),
      requestedAuthConfigs: asked(shown, waiting, 'requestedAuthConfigs'),
    }),
  };
}

/** The last event that tells of each call, by its id, in the order in which the calls were made. */
async function announcements(
  store: Store,
  { key }: SessionRow,
  { callIds, seq }: LogEventOf<'turn.waiting'>,
): Promise<ReadonlyMap<string, LogEvent>> {
  const found = new Map<string, LogEvent>();
  for (const from of [Math.max(0, seq - RECENT_EVENTS), 0]) {
    for await (const event of store.read(key, from)) {
      const ids = event.seq < seq ? idsIn(event) : [];
      for (const id of ids) if (callIds.includes(id)) found.set(id, event);
    }
    if (found.size === callIds.length || from === 0) return found;
  }
  return found;
}

function idsIn(event: LogEvent): readonly string[] {
  if (event.type === 'tool.call') return [event.callId];
  if (event.type === 'tool.pending')
    return calledAgentWaits(event.request)?.map(({ callId }) => callId) ?? [event.callId];
  return event.type === 'agent.message' ? (event.longRunningToolIds ?? []) : [];
}

/** The agent whose calls wait, and its branch; the root agent when there are several. */
function whoWaits(
  events: readonly LogEvent[],
  rootAgent: string,
): Pick<Event, 'author' | 'branch'> {
  const [first, ...others] = events.flatMap((event) =>
    'author' in event && event.author !== undefined
      ? [{ author: event.author, branch: 'branch' in event ? event.branch : undefined }]
      : [],
  );
  if (first === undefined || others.some(({ author }) => author !== first.author))
    return { author: rootAgent };
  const { author, branch } = first;
  return { author, ...(branch !== undefined && { branch }) };
}

function callPart({ callId, name, args }: PendingCall): Part {
  return { functionCall: { id: callId, name, args: isJsonObject(args) ? args : {} } };
}

/** What the waiting calls ask of a client, by their ids. */
function asked<K extends 'requestedToolConfirmations' | 'requestedAuthConfigs'>(
  shown: readonly Event[],
  { callIds }: LogEventOf<'turn.waiting'>,
  kind: K,
): EventActions[K] {
  const all = shown.flatMap(({ actions }) => Object.entries(actions[kind]));
  return Object.fromEntries(all.filter(([id]) => callIds.includes(id)));
}
