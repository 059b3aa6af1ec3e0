import type { LogEntry } from '../core/index.ts';
import type { ParkedCall } from './places.ts';
import { branchOf } from './speaking.ts';
import type { Speaking } from './speaking.ts';

/** A call that began to wait while it ran, or what is known of it now, as the log shows it. */
export function pendingEvent(speaking: Speaking, parked: ParkedCall): LogEntry {
  const { invocationId, callId, name, request, node } = parked;
  const asked = request !== undefined && { request };
  return {
    type: 'tool.pending',
    invocationId,
    author: speaking.agentName,
    ...branchOf(speaking),
    callId,
    name,
    ...asked,
    ...(node !== undefined && { nodeInfo: node }),
  };
}
