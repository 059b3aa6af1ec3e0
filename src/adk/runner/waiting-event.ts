import { mergeEventActions, omitUndefined, toUserInputCall } from '../../core/internal.ts';
import { calledAgentWaits, deriveEventId, isJsonObject, toAdkSeconds } from '../../core/index.ts';
import type {
  Event,
  FunctionCall,
  InvocationId,
  LogEvent,
  LogEventByType,
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
 * for: as function calls, or as the calls of ADK's functions that ask for their answers. `customMetadata.queuedBehind` is
 * the waiting invocation. The event is computed from the log and not stored.
 */
export async function createWaitingEvent(
  store: Store,
  { row, waiting, pending, invocationId, rootAgent }: WaitingTurn,
): Promise<Event> {
  const announcements = await findAnnouncements(store, row, waiting);
  const inOrder = [...new Set([...announcements.keys(), ...waiting.callIds])];
  const calls = inOrder.flatMap((id) => pending.find(({ callId }) => callId === id) ?? []);
  const asked = calls.map((call) => ({
    ...call,
    functionCall: toOriginalCall(call),
    actions: {},
    ...toUserInputCall({ ...call, args: toOriginalCall(call).args }),
  }));
  return {
    id: deriveEventId(row.uid, waiting.seq),
    timestamp: toAdkSeconds(waiting.at),
    invocationId,
    ...waitingAuthor([...announcements.values()], rootAgent),
    content: { role: 'model', parts: asked.map(({ functionCall }) => ({ functionCall })) },
    longRunningToolIds: asked.map(({ functionCall }) => functionCall.id),
    customMetadata: { queuedBehind: waiting.invocationId },
    actions: mergeEventActions(asked.map(({ actions }) => actions)),
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

function toOriginalCall({ callId, name, args }: StoredPendingCall): FunctionCall {
  return { id: callId, name, args: isJsonObject(args) ? args : {} };
}
