import { userIn } from '../../agents/index.ts';
import { calledAgentWaits, deriveInvocationId, isJsonObject } from '../../core/index.ts';
import type { CallId, LogEvent, Seq } from '../../core/index.ts';
import type { ManagedSession } from '../../managed/index.ts';
import { readInbox, readLog, toSessionKey } from '../events/session-log.ts';
import type { ServerContext } from '../routing/server-context.ts';
import type { SessionRun } from './session-run.ts';

/** Number of recent events to search before the whole log is read. */
const RECENT_EVENTS = 500;

/**
 * Finds the run of the turn that runs now, or of a message that was accepted and waits for its turn. Undefined when
 * nothing runs: the session is idle, or waits for an answer.
 */
export async function findOpenRun(
  context: ServerContext,
  session: ManagedSession,
): Promise<SessionRun | undefined> {
  const { lastSeq } = session;
  // The inbox before the log: a message that is taken meanwhile is then in the log.
  const accepted = (await readInbox(context, session)).find(
    ({ input: { place } }) => place === userIn.name,
  )?.input.value;
  let open: { readonly invocationId: string; readonly from: Seq } | undefined;
  let hasTurn = false;
  for (const from of searchStarts(lastSeq)) {
    for await (const event of readLog(context, session, from)) {
      if (event.type === 'turn.started') {
        open = { invocationId: event.invocationId, from: event.seq - 1 };
        hasTurn = true;
      } else if (event.type === 'turn.ended' || event.type === 'turn.waiting') {
        open = undefined;
      } else if (event.type === 'turn.resumed')
        open = { invocationId: event.invocationId, from: event.seq - 1 };
    }
    if (hasTurn) break;
  }
  if (open !== undefined) return findRun(context, session, open.invocationId);
  const queued = isJsonObject(accepted) ? accepted['invocationId'] : undefined;
  if (typeof queued !== 'string') return undefined;
  return toNewRun(session, [queued]);
}

/** Finds the run of a turn from its message on. Undefined when the turn has not begun. */
export async function findRun(
  context: ServerContext,
  session: ManagedSession,
  invocationId: string,
): Promise<SessionRun | undefined> {
  const from = await findSeqBefore(
    context,
    session,
    (event) => event.type === 'user.message' && event.invocationId === invocationId,
  );
  if (from === undefined) return undefined;
  return {
    session,
    invocationIds: [invocationId],
    from,
    turnFrom: from,
    answers: [],
    isNew: false,
  };
}

/** Finds the run of a message, also of one whose turn has not begun. Undefined when the session has no such message. */
export async function findMessageRun(
  context: ServerContext,
  session: ManagedSession,
  messageId: string,
): Promise<SessionRun | undefined> {
  const invocationId = deriveInvocationId(messageId);
  const found = await findRun(context, session, invocationId);
  if (found !== undefined) return found;
  const input = await context.store.findInput(toSessionKey(session), `message:${messageId}`);
  return input === undefined ? undefined : toNewRun(session, [invocationId]);
}

/** Finds the run of the last turn. Undefined when the session has none. */
export async function findLastRun(
  context: ServerContext,
  session: ManagedSession,
): Promise<SessionRun | undefined> {
  const open = await findOpenRun(context, session);
  if (open !== undefined) return open;
  for (const from of searchStarts(session.lastSeq)) {
    let last: string | undefined;
    for await (const event of readLog(context, session, from))
      if (event.type === 'user.message') last = event.invocationId;
    if (last !== undefined) return findRun(context, session, last);
  }
  return undefined;
}

/** Finds the run of answers that were sent together. Undefined when the session has no such call. */
export async function findAnswerRun(
  context: ServerContext,
  session: ManagedSession,
  callIds: readonly CallId[],
): Promise<SessionRun | undefined> {
  const { lastSeq } = session;
  const calls = new Map<CallId, { invocationId: string; from: Seq; turnFrom: Seq }>();
  const unanswered = new Set<CallId>();
  let turnFrom = 0;
  for await (const event of readLog(context, session, 0)) {
    if (event.type === 'user.message') turnFrom = event.seq - 1;
    for (const callId of callIds)
      if (announcesCall(event, callId) && 'invocationId' in event && !calls.has(callId)) {
        const { invocationId = '' } = event;
        const isOwn = event.type === 'tool.call';
        calls.set(callId, { invocationId, from: isOwn ? lastSeq : event.seq, turnFrom });
        if (isOwn) unanswered.add(callId);
      }
    const call = event.type === 'tool.answered' ? calls.get(event.callId) : undefined;
    if (event.type !== 'tool.answered' || call === undefined) continue;
    call.from = event.seq - 1;
    unanswered.delete(event.callId);
  }
  if (calls.size === 0) return undefined;
  const found = [...calls.values()];
  return {
    session,
    invocationIds: [...new Set(found.map(({ invocationId }) => invocationId))],
    from: Math.min(...found.map(({ from }) => from)),
    turnFrom: Math.min(...found.map((one) => one.turnFrom)),
    answers: [...unanswered],
    isNew: false,
  };
}

/** The run of messages that were just accepted. */
export function toNewRun(session: ManagedSession, invocationIds: readonly string[]): SessionRun {
  const { lastSeq: from } = session;
  return { session, invocationIds, from, turnFrom: from, answers: [], isNew: true };
}

/** The log position before the first event that fits, among the recent events or in the whole log. */
export async function findSeqBefore(
  context: ServerContext,
  session: ManagedSession,
  fits: (event: LogEvent) => boolean,
): Promise<Seq | undefined> {
  for (const from of searchStarts(session.lastSeq))
    for await (const event of readLog(context, session, from))
      if (fits(event)) return event.seq - 1;
  return undefined;
}

/** True for the event with which a call became known to the session: its own call, or that of a called agent. */
export function announcesCall(event: LogEvent, callId: string): boolean {
  if (event.type === 'tool.call') return event.callId === callId;
  return (
    event.type === 'tool.pending' &&
    (calledAgentWaits(event.request) ?? []).some((wait) => wait.callId === callId)
  );
}

function searchStarts(lastSeq: Seq): readonly Seq[] {
  return lastSeq > RECENT_EVENTS ? [lastSeq - RECENT_EVENTS, 0] : [0];
}
