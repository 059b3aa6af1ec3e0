import { isJsonObject } from '../../core/index.ts';
import type { CallId, LogEvent, LogEventByType, Seq } from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import { isQuotaRefusal } from '../../agents/internal.ts';
import type { ManagedSession } from '../../managed/index.ts';
import type { PendingCall } from '../../runtime/index.ts';
import { findCurrentWait } from '../../runtime/internal.ts';
import { toSessionKey, toSessionRef } from '../events/session-log.ts';
import type { ServerContext } from '../routing/server-context.ts';
import type { FrameCursor } from './frame-cursor.ts';
import { SessionFold, toStored } from './session-fold.ts';
import type { FoldedUpdate, PreviewLengths } from './session-fold.ts';
import type { RunEnded, OpenCall } from './session-update.ts';

/**
 * The part of a session's log that answers a request: from its first input, to the end of the turn or to its next wait.
 * It is found again from the inputs alone, so a repeated request shows the same run.
 */
export interface SessionRun {
  readonly session: ManagedSession;
  /** The turns of its inputs, in order. The run ends with the last. */
  readonly invocationIds: readonly string[];
  /** The log position before its first event. */
  readonly from: Seq;
  /** The log position before the first event of its first turn. */
  readonly turnFrom: Seq;
  /** The calls whose answers must be taken before a wait ends the run. */
  readonly answers: readonly CallId[];
  /** True: its last turn has not begun. */
  readonly isNew: boolean;
  /** A wait up to this log position does not end the run: it continues with the turn. Default: each wait ends it. */
  readonly waitsAfter?: Seq | undefined;
}

/** An update of a run, with its position in the log. */
export interface RunUpdate extends FoldedUpdate {
  readonly seq: Seq;
  /** How much of the texts in progress was sent, with this update. */
  readonly previews: PreviewLengths;
}

export interface ReadRunOptions {
  readonly signal: AbortSignal;
  /** Also yields text in progress. Default: false. */
  readonly previews?: boolean;
  /** The position that the reader has. Updates up to it are yielded, too: their frames must be counted. */
  readonly after?: FrameCursor | undefined;
  /** Waits for the end of the run. False: yields what the log has now. Default: true. */
  readonly follow?: boolean;
}

/**
 * Reads a run, from `run.started` to `run.ended`. It ends early when the signal aborts. Leaving the loop does not affect
 * the session.
 */
export async function* readRun(
  context: ServerContext,
  run: SessionRun,
  { signal, previews = false, after, follow = true }: ReadRunOptions,
): AsyncGenerator<RunUpdate, void, undefined> {
  const { session, invocationIds, from, turnFrom } = run;
  const invocationId = invocationIds.at(-1) ?? '';
  const fold = new SessionFold();
  if (after !== undefined) fold.resumePreviews(after.previews);
  const at = (seq: Seq, folded: FoldedUpdate): RunUpdate => ({
    previews: fold.previewLengths,
    ...folded,
    seq,
  });
  const end = (seq: Seq, ended: Partial<RunEnded> & Pick<RunEnded, 'outcome'>): RunUpdate =>
    at(seq, toStored({ type: 'run.ended', invocationId, waits: [], isQueued: false, ...ended }));
  yield at(from, toStored({ type: 'run.started', invocationId }));
  const blocking = run.isNew ? await findBlockingWaits(context, session, invocationId) : undefined;
  if (blocking !== undefined) {
    yield end(from, { outcome: 'waiting', waits: blocking, isQueued: true });
    return;
  }
  let seq = from;
  let hasBegun = !run.isNew;
  const unanswered = new Set(run.answers);
  const options = { signal, partials: previews, follow };
  for await (const event of context.runtime.streamLog(toSessionRef(session), turnFrom, options)) {
    if (event.type === 'session.deleted') {
      yield end(seq, { outcome: 'closed' });
      return;
    }
    if (event.type === 'partial' || event.type === 'partial.reset') {
      if (event.type === 'partial.reset' || !invocationIds.includes(event.invocationId)) continue;
      for (const folded of fold.preview(event)) yield at(seq, folded);
      continue;
    }
    if (!isOwnEvent(event, invocationIds)) {
      if (event.type !== 'turn.waiting' || event.seq <= from || hasBegun) continue;
      const waits = (await findBlockingWaits(context, session, invocationId)) ?? [];
      if (waits.length === 0) continue;
      yield end(from, { outcome: 'waiting', waits, isQueued: true });
      return;
    }
    const folded = fold.add(event);
    if (event.seq <= from) continue;
    ({ seq } = event);
    if (event.type === 'turn.started' && event.invocationId === invocationId) hasBegun = true;
    if (event.type === 'tool.answered') unanswered.delete(event.callId);
    for (const one of folded) yield at(seq, one);
    const ended = toRunEnd(event, invocationId, { fold, hasAnswers: unanswered.size === 0 });
    const isPassed = ended?.outcome === 'waiting' && event.seq <= (run.waitsAfter ?? 0);
    if (ended === undefined || isPassed) continue;
    yield end(seq, ended);
    return;
  }
}

/** True for an event of these turns, or of no turn. */
export function isOwnEvent(event: LogEvent, invocationIds: readonly string[]): boolean {
  const id = 'invocationId' in event ? event.invocationId : undefined;
  return id === undefined || invocationIds.includes(id);
}

/** How a run ends with an event of its log. Undefined: it goes on. */
export function toRunEnd(
  event: LogEvent,
  invocationId: string,
  { fold, hasAnswers = true }: { readonly fold: SessionFold; readonly hasAnswers?: boolean },
): (Partial<RunEnded> & Pick<RunEnded, 'outcome'>) | undefined {
  if (event.type === 'session.completed' || event.type === 'session.archived')
    return { outcome: 'closed' };
  if (!('invocationId' in event) || event.invocationId !== invocationId) return undefined;
  if (event.type === 'turn.waiting')
    return hasAnswers
      ? { outcome: 'waiting', stopReason: event.stopReason, waits: fold.waits(event.callIds) }
      : undefined;
  if (event.type === 'error' && event.code === 'answer_refused')
    return { outcome: 'failed', error: { code: event.code, message: event.message } };
  return event.type === 'turn.ended' ? toTurnEnd(event, fold) : undefined;
}

function toTurnEnd(
  { stopReason, usage, invocationId }: LogEventByType<'turn.ended'>,
  fold: SessionFold,
): Partial<RunEnded> & Pick<RunEnded, 'outcome'> {
  const facts = { stopReason, ...omitUndefined({ usage }) };
  if (stopReason === 'interrupted') return { outcome: 'interrupted', ...facts };
  const error = fold.findError(invocationId);
  const isFailed =
    stopReason === 'error' ||
    stopReason === 'retries_exhausted' ||
    (stopReason === 'budget_reached' && error !== undefined && isQuotaRefusal(error.code));
  if (!isFailed) return { outcome: 'completed', ...facts };
  return { outcome: 'failed', ...facts, ...omitUndefined({ error }) };
}

/** The calls of another turn that a new message is queued behind. Undefined if there is none. */
async function findBlockingWaits(
  { store, runtime }: ServerContext,
  session: ManagedSession,
  invocationId: string,
): Promise<readonly OpenCall[] | undefined> {
  const wait = await findCurrentWait(store, toSessionKey(session));
  if (wait === undefined || wait.invocationId === invocationId) return undefined;
  return (await runtime.pending(toSessionRef(session))).map(toOpenCall);
}

/** A pending call as a run shows it. */
export function toOpenCall(call: PendingCall): OpenCall {
  const { callId, name, args, needs, reason = 'policy', path = [], request } = call;
  return {
    callId,
    name,
    args: isJsonObject(args) ? args : {},
    needs,
    reason,
    path,
    ...omitUndefined({ request }),
  };
}
