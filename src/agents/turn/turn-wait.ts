import { calledAgentWaits } from '../../core/index.ts';
import type { LogEntry } from '../../core/index.ts';
import { all, allOf, inputValues, pure, upTo } from '../../net/index.ts';
import type { AnyPlace, TokenPlace, Transition } from '../../net/index.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { turnCurrent, turnWaiting } from '../vocabulary/turn.ts';
import { turnStopping } from '../vocabulary/control.ts';
import type { ParkedCall } from '../vocabulary/tool-call.ts';

export interface TurnWaitOptions {
  /** The place of the agent's parked calls. */
  readonly parked: TokenPlace<ParkedCall>;
  /** The places of other agents' calls that may be parked at the same time. */
  readonly others?: readonly TokenPlace<ParkedCall>[];
  /** Places that must be empty. While one has a token, the turn can still make progress without an answer. */
  readonly idle: readonly AnyPlace[];
}

/** Emits `turn.waiting` when calls are parked and nothing else of the turn can make progress. */
export function turnWait({ parked, others = [], idle }: TurnWaitOptions): Transition {
  const otherInputs = Object.fromEntries(
    others.map((place) => [place.name, all(place, { min: 0 })]),
  );
  return pure('turn.wait', {
    take: { turn: turnCurrent },
    read: { parked: all(parked), ...(otherInputs as Readonly<Record<never, never>>) },
    unless: [...idle, turnWaiting, turnStopping],
    priority: -1,
    give: allOf({ turn: turnCurrent, waiting: turnWaiting, events: upTo(1, eventOut) }),
    run: ({ turn, parked: parkedCalls, ...rest }) => ({
      turn,
      waiting: null,
      events: [
        {
          type: 'turn.waiting',
          invocationId: turn.invocationId,
          stopReason: 'requires_action',
          callIds: [...parkedCalls, ...others.flatMap((place) => inputValues(rest, place))].flatMap(
            ({ callId, request }) =>
              calledAgentWaits(request)?.map((wait) => wait.callId) ?? [callId],
          ),
        },
      ],
    }),
  });
}

/**
 * Emits `turn.resumed` if `turn.waiting` was emitted before.
 * @param waiting how many tokens were taken from `turn.waiting`
 */
export function turnResumed(invocationId: string, waiting: number): readonly LogEntry[] {
  return waiting > 0 ? [{ type: 'turn.resumed', invocationId }] : [];
}
