import { deriveCallId, deriveEventId, getFunctionCalls } from '../../core/index.ts';
import type { LogEvent } from '../../core/index.ts';
import type { SessionRow, Store } from '../../store/index.ts';

/**
 * Finds the call that a client refers to: by its id, by the id of the event that announced it, or by the model's id.
 */
export async function resolveCall(
  store: Store,
  row: SessionRow,
  id: string,
): Promise<ResolvedCall> {
  if (row.pending.some(({ callId }) => callId === id))
    return { callId: id, isKnown: true, mayArrive: false };
  let found: string | undefined;
  let turn: string | undefined;
  for await (const event of store.read(row.key, 0)) {
    if (event.type === 'turn.started') turn = event.invocationId;
    if (event.type === 'turn.ended') turn = undefined;
    found = matchCall(event, id, row.uid) ?? found;
  }
  return {
    callId: found ?? id,
    isKnown: found !== undefined,
    // Only a call of the running turn can still appear.
    mayArrive: turn !== undefined && id.startsWith(deriveCallId(turn, 0, 0).replace(/0_0$/, '')),
  };
}

/** The call that a client refers to. */
export interface ResolvedCall {
  readonly callId: string;
  /** The call is in the log. */
  readonly isKnown: boolean;
  /** The call is not in the log, but the running turn may still make it. */
  readonly mayArrive: boolean;
}

function matchCall(event: LogEvent, id: string, uid: string): string | undefined {
  if (event.type === 'tool.call' && (event.callId === id || deriveEventId(uid, event.seq) === id))
    return event.callId;
  if (event.type !== 'agent.message') return undefined;
  return getFunctionCalls(event).find(({ providerId }) => providerId === id)?.id;
}
