import { allOf, oneOf, pure, put, upTo } from '../net/index.ts';
import type { Transition } from '../net/index.ts';
import { toolError } from '../tools/tool-response.ts';
import { eventOut, state, toolResult, toolWrite, turnCurrent, turnStopping } from './places.ts';
import type { CallResult } from './places.ts';
import { resultEvent } from './result-event.ts';
import { branchOf } from './speaking.ts';
import type { Speaking } from './speaking.ts';
import { WRITE_PRIORITY } from './session-writer.ts';
import { changedEvents, conflictMessage, movedKeys } from './state-change.ts';

/**
 * Writes what a tool wrote to state, and gives its result: both come true, or the result says that neither did. It holds
 * the turn meanwhile: nobody else writes for the turn.
 */
export function persistResult(speaking: Speaking): Transition {
  return pure('tool.persist', {
    take: { write: toolWrite, turn: turnCurrent },
    read: { state },
    unless: [turnStopping],
    give: oneOf({
      kept: allOf({
        turn: turnCurrent,
        state: put(state),
        result: toolResult,
        events: upTo(2, eventOut),
      }),
      // The tool also asked that the turn stops.
      stopped: allOf({
        turn: turnCurrent,
        state: put(state),
        result: toolResult,
        stop: turnStopping,
        events: upTo(2, eventOut),
      }),
    }),
    run: ({ write, turn, state }) => {
      const moved = movedKeys(write, state);
      if (moved.length > 0) {
        const result = conflict(write.result, moved);
        return { kept: { turn, result, events: [resultEvent(speaking, result)] } };
      }
      const { result, writes } = write;
      const { invocationId } = turn;
      const author = speaking.agentName;
      const events = [
        ...changedEvents({ writes, invocationId, author, ...branchOf(speaking) }, state),
        resultEvent(speaking, result),
      ];
      const kept = { turn, state: writes, result, events };
      return result.actions?.endInvocation === true
        ? { stopped: { ...kept, stop: { stopReason: 'end_turn' as const } } }
        : { kept };
    },
    priority: WRITE_PRIORITY,
  });
}

function conflict(
  { actions: _actions, ...result }: CallResult,
  keys: readonly string[],
): CallResult {
  const response = toolError('state_conflict', conflictMessage(keys));
  return { ...result, outcome: 'error', response };
}
