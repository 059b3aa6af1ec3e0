import type { LogEntry } from '../core/index.ts';
import type { CallResult } from './places.ts';
import { branchOf } from './speaking.ts';
import type { Speaking } from './speaking.ts';

/** A result as the log shows it. That a turn is stopped is no action of ADK's events: the log shows how the turn ends. */
export function resultEvent(speaking: Speaking, result: CallResult): LogEntry {
  const { invocationId, callId, name, outcome, response, node } = result;
  const { endInvocation: _, ...actions } = result.actions ?? {};
  return {
    type: 'tool.result',
    invocationId,
    author: speaking.agentName,
    ...branchOf(speaking),
    callId,
    name,
    outcome,
    response,
    ...(Object.keys(actions).length > 0 && { actions }),
    ...(node !== undefined && { nodeInfo: node }),
  };
}
