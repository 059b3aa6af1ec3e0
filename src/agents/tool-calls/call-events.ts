import { omitUndefined } from '../../core/internal.ts';
import type { LogEntry } from '../../core/index.ts';
import type { CallAdmission } from './admit-call.ts';
import type { Call, CallResult, ParkedCall } from '../vocabulary/tool-call.ts';
import { branchField } from '../vocabulary/agent-identity.ts';
import type { Tool } from '../../tools/index.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';

/** The events of an admitted call: `tool.call`, and `tool.result` if it was answered at once. */
export function callEvents(
  caller: CallingAgent,
  { requested, parked, result }: CallAdmission,
): readonly LogEntry[] {
  const call = callEvent(caller, requested, parked);
  return result === undefined ? [call] : [call, resultEvent(caller, result)];
}

/** An agent and its tools. */
export interface CallingAgent extends AgentIdentity {
  readonly tools: ReadonlyMap<string, Tool>;
}

/** The `tool.call` event of a call. */
export function callEvent(caller: CallingAgent, requested: Call, parked?: ParkedCall): LogEntry {
  const { invocationId, callId, name, args, node } = requested;
  const tool = caller.tools.get(name);
  return {
    type: 'tool.call',
    invocationId,
    author: caller.agentName,
    ...branchField(caller),
    callId,
    name,
    args,
    needs: parked?.needs ?? 'nothing',
    ...omitUndefined({
      fingerprint: parked?.fingerprint,
      nodeInfo: node,
      origin: tool?.origin,
      permission: tool?.origin === undefined ? undefined : toPermission(tool, parked),
    }),
  };
}

function toPermission({ denied }: Tool, parked: ParkedCall | undefined): 'allow' | 'ask' | 'deny' {
  if (denied === true) return 'deny';
  return parked?.needs === 'approval' ? 'ask' : 'allow';
}

/** The `tool.pending` event of a call that began to wait while it ran, or that reports progress. */
export function pendingEvent(identity: AgentIdentity, parked: ParkedCall): LogEntry {
  const { invocationId, callId, name, request, node } = parked;
  return {
    type: 'tool.pending',
    invocationId,
    author: identity.agentName,
    ...branchField(identity),
    callId,
    name,
    ...omitUndefined({ request, nodeInfo: node }),
  };
}

/**
 * The `tool.result` event of a result. Its actions omit `endInvocation`, which is not an action of ADK's events: the log
 * shows how the turn ends.
 */
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
    ...omitUndefined({
      actions: Object.keys(actions).length > 0 ? actions : undefined,
      nodeInfo: node,
    }),
  };
}
