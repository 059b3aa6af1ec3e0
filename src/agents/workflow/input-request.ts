import { omitUndefined } from '../../core/internal.ts';
import type { LogEntry } from '../../core/index.ts';
import { callFingerprint } from '../../tools/internal.ts';
import type { RequestInput } from './node-event.ts';
import { toJsonObject } from './node-result.ts';
import { toNodeInfo } from './node-message.ts';
import type { ParkedCall } from '../vocabulary/tool-call.ts';
import { branchField } from '../vocabulary/agent-identity.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import type { NodeStep } from './workflow-places.ts';

/** The event of a node's question: a function call that is answered later. */
export function inputRequestEvent(
  identity: AgentIdentity,
  step: NodeStep,
  callId: string,
  { message, payload }: RequestInput,
): LogEntry {
  const args = omitUndefined({ message, payload });
  const call = { functionCall: { id: callId, name: INPUT_CALL, args } };
  return {
    type: 'agent.message',
    invocationId: step.invocationId,
    author: identity.agentName,
    ...branchField(identity),
    content: { role: 'model', parts: [call] },
    nodeInfo: toNodeInfo(identity, step),
    longRunningToolIds: [callId],
  };
}

/** ADK's name for the function call of a node's question. */
const INPUT_CALL = 'adk_request_input';

/** The parked call of a node's question. It carries the node and its step, so that the answer can resume it. */
export function toParkedInputRequest(
  node: string,
  callId: string,
  { message, payload }: RequestInput,
  step: NodeStep,
): ParkedCall {
  const { invocationId } = step;
  const request = omitUndefined({ message, payload });
  return {
    invocationId,
    callId,
    name: INPUT_CALL,
    args: {},
    index: 0,
    needs: 'result',
    reason: 'policy',
    fingerprint: callFingerprint(INPUT_CALL, request),
    request,
    resume: toJsonObject({ node, step }, 'step'),
  };
}

/** The node and its step of a parked question. */
export function fromParkedInputRequest({ resume }: ParkedCall): {
  readonly node: string;
  readonly step: NodeStep;
} {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `toParkedInputRequest` wrote it
  return resume as unknown as { readonly node: string; readonly step: NodeStep };
}
