import { omitUndefined } from '../../core/internal.ts';
import {
  calledAgentWaits,
  createEventActions,
  deriveEventId,
  isJsonObject,
  toAdkEvent,
  toAdkSeconds,
} from '../../core/index.ts';
import type {
  Event,
  EventActions,
  InvocationId,
  LogEvent,
  LogEventByType,
  Part,
} from '../../core/index.ts';
import type { StoredPendingCall, SessionRow, Store } from '../../store/index.ts';

/** Number of newest events searched for the announcement of a waiting call before the whole log is read. */
const RECENT_EVENTS = 500;

/** The turn that waits, and the message queued behind it. */
export interface WaitingTurn {
  readonly row: SessionRow;
  readonly waiting: LogEventByType<'turn.waiting'>;
  /** The waiting calls of the session, including those of agents that it called. */
  readonly pending: readonly StoredPendingCall[];
  /** The invocation whose caller gets the event. */
  readonly invocationId: InvocationId;
  /** Author of the event when calls of several agents wait. */
  readonly rootAgent: string;
}

/**
 * Creates the event for a caller whose message is queued behind a waiting turn. It lists the calls that the turn waits
 * for: as `longRunningToolIds`, as function calls, and with what each call requests. `customMetadata.queuedBehind` is
 * the waiting invocation. The event is computed from the log and not stored.
 */
export async function createWaitingEvent(
  store: Store,
  { row, waiting, pending, invocationId, rootAgent }: WaitingTurn,
): Promise<Event> {
  const announcements = await findAnnouncements(store, row, waiting);
  const inOrder = [...new Set([...announcements.keys(), ...waiting.callIds])];
  const calls = inOrder.flatMap((id) => pending.find(({ callId }) => callId === id) ?? []);
  const adkEvents = [...announcements.values()].flatMap(
    (event) => toAdkEvent(event, row.uid) ?? [],
  );
  return {
    id: deriveEventId(row.uid, waiting.seq),
    timestamp: toAdkSeconds(waiting.at),
    invocationId,
    ...waitingAuthor([...announcements.values()], rootAgent),
    content: { role: 'model', parts: calls.map(toFunctionCallPart) },
    longRunningToolIds: inOrder,
    customMetadata: { queuedBehind: waiting.invocationId },
    actions: createEventActions({
      requestedToolConfirmations: requestedActions(
        adkEvents,
        waiting,
        'requestedToolConfirmations',
      ),
      requestedAuthConfigs: requestedActions(adkEvents, waiting, 'requestedAuthConfigs'),
    }),
  };
}

/** Finds the last event that announces each call, by call id, in the order in which the calls were made. */
async function findAnnouncements(
  store: Store,
  { key }: SessionRow,
  { callIds, seq }: LogEventByType<'turn.waiting'>,
): Promise<ReadonlyMap<string, LogEvent>> {
  const found = new Map<string, LogEvent>();
  for (const from of [Math.max(0, seq - RECENT_EVENTS), 0]) {
    for await (const event of store.read(key, from)) {
      const ids = event.seq < seq ? readCallIds(event) : [];
      for (const id of ids) if (callIds.includes(id)) found.set(id, event);
    }
    if (found.size === callIds.length || from === 0) return found;
  }
  return found;
}

function readCallIds(event: LogEvent): readonly string[] {
  if (event.type === 'tool.call') return [event.callId];
  if (event.type === 'tool.pending')
    return calledAgentWaits(event.request)?.map(({ callId }) => callId) ?? [event.callId];
  return event.type === 'agent.message' ? (event.longRunningToolIds ?? []) : [];
}

/** The agent whose calls wait, and its branch; the root agent if there are several. */
function waitingAuthor(
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
  return { author, ...omitUndefined({ branch }) };
}

function toFunctionCallPart({ callId, name, args }: StoredPendingCall): Part {
  return { functionCall: { id: callId, name, args: isJsonObject(args) ? args : {} } };
}

/** What the waiting calls request of a client, by call id. */
function requestedActions<K extends 'requestedToolConfirmations' | 'requestedAuthConfigs'>(
  adkEvents: readonly Event[],
  { callIds }: LogEventByType<'turn.waiting'>,
  kind: K,
): EventActions[K] {
  const all = adkEvents.flatMap(({ actions }) => Object.entries(actions[kind]));
  return Object.fromEntries(all.filter(([id]) => callIds.includes(id)));
}
