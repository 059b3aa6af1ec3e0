import {
  compactList,
  isClosedStatus,
  isEmptyWrites,
  isSharedKey,
  listOverwrittenKeys,
  mergeWrites,
  omitUndefined,
  restrictWrites,
} from '../../core/internal.ts';
import { eventOut, state } from '../../agents/internal.ts';
import type { Agent, AgentStatus } from '../../agents/index.ts';
import { calledAgentWaits } from '../../core/index.ts';
import type { LogEntry, LogEvent, Seq } from '../../core/index.ts';
import type { Firing, JournalRecord, Marking, Step } from '../../net/index.ts';
import { outletValue } from '../../net/index.ts';
import type { StoredPendingCall, SessionSummary, SettledStep } from '../../store/index.ts';

/** Where a step is in the log of its session. */
export interface StepPosition extends Pick<AgentStatus, 'status' | 'invocationId'> {
  /** The number of the last event before the step. */
  readonly lastSeq: Seq;
}

/**
 * Builds the log events of a step, in journal order: the tokens that a record puts on the event outlet, then the events
 * that the agent derives from the record; at last an error for each rejected input. The log of a closed session does not
 * grow: there a rejected input leaves no event.
 * @param marking the marking after the step
 */
export function toLogEvents(
  step: Step,
  agent: Pick<Agent, 'recordEvents'>,
  marking: Marking,
  { status, invocationId: lastTurn, lastSeq }: StepPosition,
): readonly LogEvent[] {
  const events: LogEvent[] = [];
  const add = (at: number, entry: LogEntry): void => {
    events.push({ ...entry, seq: lastSeq + events.length + 1, at });
  };
  const turns = listTurns(step, lastTurn);
  const { outlets } = step;
  let outlet = 0;
  for (const [index, record] of step.records.entries()) {
    for (; outlets[outlet]?.record === record.seq; outlet++) {
      const entry = readEntry(outlets[outlet]);
      if (entry !== undefined) add(record.at, entry);
    }
    for (const entry of agent.recordEvents(record, marking, turns[index])) add(record.at, entry);
  }
  const at = step.records.at(-1)?.at ?? 0;
  for (const { error, injection } of isClosedStatus(status) ? [] : step.rejected) {
    const message = error instanceof Error ? error.message : 'invalid value';
    add(at, {
      type: 'error',
      /**
       * A stored input does not match the schema of its place, for example after an upgrade. It was dropped.
       * @remedy Send the input again in the form that the agent accepts.
       */
      code: 'input_rejected',
      message: `Input for "${injection.place}" rejected: ${message}`,
    });
  }
  return compactList(events);
}

/** The turn that runs at each record: the one that ends next in the step, or the one that runs after the step. */
function listTurns(
  { records, outlets }: Step,
  lastTurn: string | undefined,
): readonly (string | undefined)[] {
  const turns = Array<string | undefined>(records.length);
  let turn = lastTurn;
  let outlet = outlets.length - 1;
  for (let index = records.length - 1; index >= 0; index--) {
    for (; outlet >= 0 && outlets[outlet]?.record === records[index]?.seq; outlet--) {
      const entry = readEntry(outlets[outlet]);
      if (entry?.type === 'turn.ended') turn = entry.invocationId;
    }
    turns[index] = turn;
  }
  return turns;
}

function readEntry(outlet: Step['outlets'][number] | undefined): LogEntry | undefined {
  return outlet === undefined ? undefined : outletValue(eventOut, outlet);
}

/** True when an attempt of the firing may be running. A firing that waits for its next attempt is a timer instead. */
export function isRunning({ retryAt }: Firing): boolean {
  return retryAt === undefined;
}

/**
 * Builds the columns of the session's row after a step.
 * @param before the pending calls before the step. A call that still waits for the same keeps its time.
 */
export function toSessionSummary(
  status: AgentStatus,
  marking: Marking,
  nextDueAt: number | undefined,
  before: readonly StoredPendingCall[] = [],
): SessionSummary {
  const pending = status.pending.flatMap(toPendingCalls);
  return {
    status: status.status,
    activity: status.activity,
    inFlight: [...marking.firings.values()].filter(isRunning).length + (status.connections ?? 0),
    nextDueAt: nextDueAt ?? null,
    pending: pending.map((call) => ({ ...call, since: findSince(call, before) })),
    netHash: marking.net.hash,
  };
}

/** Lists what a parked call waits for: its answer, or the answers to pending calls of the agent that it called. */
function toPendingCalls(parked: AgentStatus['pending'][number]): readonly StoredPendingCall[] {
  const { callId, name, args, needs, invocationId, fingerprint, reason, asks, request, resume } =
    parked;
  const { at: since, timeoutMs } = parked;
  const waits = calledAgentWaits(request);
  if (waits !== undefined)
    return waits.map((wait) => ({ ...wait, invocationId, via: callId, since }));
  return [
    {
      callId,
      name,
      args,
      needs,
      invocationId,
      fingerprint,
      reason,
      since,
      ...omitUndefined({
        asks,
        request,
        resumes: resume === undefined ? undefined : true,
        expiresAt: timeoutMs === undefined ? undefined : since + timeoutMs,
      }),
    },
  ];
}

/** A progress report makes a new token, but the call has waited since its first one. */
function findSince(call: StoredPendingCall, before: readonly StoredPendingCall[]): number {
  const known = before.find(
    ({ callId, needs, asks, via }) =>
      callId === call.callId && needs === call.needs && asks === call.asks && via === call.via,
  );
  return known?.since ?? call.since;
}

/**
 * Collects the writes of a step to state that is shared between sessions, and the versions that they are based on.
 * Undefined when the step writes no shared state.
 * @param versions the versions of the shared keys before the step
 */
export function toSharedWrites(
  records: readonly JournalRecord[],
  versions: Readonly<Record<string, number>>,
): SettledStep['shared'] {
  let known = versions;
  const reads: Record<string, number> = {};
  let writes: ReturnType<typeof mergeWrites> | undefined;
  for (const record of records) {
    if (record.kind === 'loaded') known = record.versions;
    if (!('maps' in record)) continue;
    for (const change of record.maps ?? []) {
      const shared = restrictWrites(change, isSharedKey);
      if (isEmptyWrites(shared)) continue;
      for (const key of listOverwrittenKeys(shared)) reads[key] ??= known[key] ?? 0;
      writes = writes === undefined ? shared : mergeWrites(writes, shared);
    }
  }
  return writes === undefined ? undefined : { reads, writes: { place: state.name, ...writes } };
}
