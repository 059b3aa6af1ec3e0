import type { LogEntry } from '../../core/index.ts';
import type { CallResult } from '../vocabulary/tool-call.ts';
import { branchField } from '../vocabulary/agent-identity.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';

/** A result as the log shows it. That a turn is stopped is no action of ADK's events: the log shows how the turn ends. */
export function resultEvent(identity: AgentIdentity, result: CallResult): LogEntry {
  const { invocationId, callId, name, outcome, response, node } = result;
  const { endInvocation: _, ...actions } = result.actions ?? {};
  return {
    type: 'tool.result',
    invocationId,
    author: identity.agentName,
    ...branchField(identity),
    callId,
    name,
    outcome,
    response,
    ...(Object.keys(actions).length > 0 && { actions }),
    ...(node !== undefined && { nodeInfo: node }),
  };
}
