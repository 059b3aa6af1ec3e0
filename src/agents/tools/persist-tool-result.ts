import { allOf, oneOf, pure, put, upTo } from '../../net/index.ts';
import type { Transition } from '../../net/index.ts';
import { toolError } from '../../tools/internal.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { state } from '../vocabulary/state.ts';
import { turnCurrent } from '../vocabulary/turn.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { toolResult, toolWrite } from '../vocabulary/tool-call.ts';
import type { CallResult } from '../vocabulary/tool-call.ts';
import { resultEvent } from '../tool-calls/call-events.ts';
import { branchField } from '../vocabulary/agent-identity.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { WRITE_PRIORITY } from '../state/session-writer.ts';
import { conflictMessage, conflictingKeys } from '../state/state-conflict.ts';
import { stateChangedEvents } from '../state/state-changed-events.ts';

/**
 * Applies a tool's state changes together with its result. If they conflict, neither counts and the call gets a
 * `state_conflict` error. The transition takes the turn, so no other transition of the turn writes at the same time.
 */
export function persistToolResult(identity: AgentIdentity): Transition {
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
      // The tool also requested the end of the turn.
      stopped: allOf({
        turn: turnCurrent,
        state: put(state),
        result: toolResult,
        stop: turnStopping,
        events: upTo(2, eventOut),
      }),
    }),
    run: ({ write, turn, state }) => {
      const conflicts = conflictingKeys(write, state);
      if (conflicts.length > 0) {
        const result = conflictResult(write.result, conflicts);
        return { kept: { turn, result, events: [resultEvent(identity, result)] } };
      }
      const { result, writes } = write;
      const { invocationId } = turn;
      const author = identity.agentName;
      const events = [
        ...stateChangedEvents({ writes, invocationId, author, ...branchField(identity) }, state),
        resultEvent(identity, result),
      ];
      const kept = { turn, state: writes, result, events };
      return result.actions?.endInvocation === true
        ? { stopped: { ...kept, stop: { stopReason: 'end_turn' as const } } }
        : { kept };
    },
    priority: WRITE_PRIORITY,
  });
}

function conflictResult(
  { actions: _actions, ...result }: CallResult,
  keys: readonly string[],
): CallResult {
  const response = toolError('state_conflict', conflictMessage(keys));
  return { ...result, outcome: 'error', response };
}
