import type { LogEntry } from '../../core/index.ts';
import type { ParkedCall } from '../vocabulary/tool-call.ts';
import { branchField } from '../vocabulary/agent-identity.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';

/** A call that began to wait while it ran, or what is known of it now, as the log shows it. */
export function pendingEvent(identity: AgentIdentity, parked: ParkedCall): LogEntry {
  const { invocationId, callId, name, request, node } = parked;
  const asked = request !== undefined && { request };
  return {
    type: 'tool.pending',
    invocationId,
    author: identity.agentName,
    ...branchField(identity),
    callId,
    name,
    ...asked,
    ...(node !== undefined && { nodeInfo: node }),
  };
}
