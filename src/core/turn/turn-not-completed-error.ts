import { PetrichorError } from '../errors/petrichor-error.ts';
import type { LoggedError, ToolCallNeeds } from '../events/log-event.ts';
import type { StopReason } from '../events/stop-reason.ts';
import type { Json } from '../json/json.ts';

/** A call that a turn waits for. */
export interface WaitingCall {
  /** Pass it to `approve`, `deny` or `answer`. */
  readonly id: string;
  readonly name: string;
  readonly args: Json;
  readonly needs: Exclude<ToolCallNeeds, 'nothing'>;
  /** Pass it to `approve`, so that the approval counts only for these arguments. */
  readonly fingerprint?: string;
}

/** How a turn stopped, and what it had said. */
export interface TurnStop {
  readonly stopReason: StopReason;
  /** The text of the last message of the agent. Empty if there is none. */
  readonly text: string;
  /** The last error of the turn. */
  readonly error?: LoggedError | undefined;
  /** The calls that the session waits for. */
  readonly pending: readonly WaitingCall[];
  /** True when the message did not start its turn, because an earlier turn of the session waits. */
  readonly isQueued?: boolean | undefined;
}

/**
 * A turn stopped without a final answer: it waits for a person or a result, was interrupted, reached a limit, or
 * failed. `stopReason` has the reason and `pending` the calls that wait. What the turn committed stays in the session.
 * @remedy For `requires_action`, answer the calls of `pending`, then ask again with the same `messageId` to get the
 * answer of the same turn. For any other reason, the message describes the next step.
 */
export class TurnNotCompletedError extends PetrichorError implements TurnStop {
  override readonly code = 'turn_not_completed' as const;
  readonly sessionId: string;
  readonly stopReason: StopReason;
  readonly text: string;
  readonly error: LoggedError | undefined;
  readonly pending: readonly WaitingCall[];
  readonly isQueued: boolean;

  constructor(sessionId: string, stop: TurnStop) {
    super(`Session "${sessionId}": ${formatStop(stop)}`);
    this.sessionId = sessionId;
    this.stopReason = stop.stopReason;
    this.text = stop.text;
    this.error = stop.error;
    this.pending = stop.pending;
    this.isQueued = stop.isQueued === true;
  }
}

/**
 * Returns the text of a completed turn.
 * @throws TurnNotCompletedError when the turn stopped for any other reason than `end_turn`
 */
export function readAnswer(sessionId: string, stop: TurnStop): string {
  if (stop.stopReason !== 'end_turn') throw new TurnNotCompletedError(sessionId, stop);
  return stop.text;
}

function formatStop({ stopReason, error, pending, isQueued }: TurnStop): string {
  if (stopReason === 'requires_action') return formatWait(pending, isQueued === true);
  const cause = error === undefined ? '' : ` (${error.code}: ${error.message})`;
  return `the turn ended with the stop reason "${stopReason}"${cause}. ${NEXT_STEPS[stopReason]}`;
}

function formatWait(pending: readonly WaitingCall[], isQueued: boolean): string {
  const turn = isQueued ? 'the message is queued behind a turn that' : 'the turn';
  const calls = pending.map(({ id, name, needs }) => {
    const need = needs === 'approval' ? 'an approval' : 'a result';
    return `${need} of "${name}" (call ${id})`;
  });
  const verbs = [
    ...(pending.some(({ needs }) => needs === 'approval') ? ['approve or deny'] : []),
    ...(pending.some(({ needs }) => needs === 'result') ? ['answer'] : []),
  ];
  const next = verbs.length === 0 ? 'Answer its calls' : `Call ${verbs.join(', ')} with each id`;
  const what = calls.length === 0 ? 'an answer' : calls.join(', ');
  return `${turn} waits for ${what}. ${next}, then ask again with the same messageId (over HTTP: idempotencyKey).`;
}

const NEXT_STEPS: Readonly<Record<Exclude<StopReason, 'requires_action'>, string>> = {
  end_turn: '',
  max_tokens: 'Raise config.maxOutputTokens of the agent, then send a new message.',
  interrupted: 'It was stopped on request. Send a new message to continue.',
  retries_exhausted: 'The model failed in every attempt. Send a new message later.',
  budget_reached: 'Raise the limit that was reached (reaskBudget, maxModelCalls, maxLlmCalls).',
  refusal: 'The model refused to answer. Change the message or the instruction.',
  error: 'Correct the cause, then send a new message.',
};
