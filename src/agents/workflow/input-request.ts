import { omitUndefined } from '../../core/internal.ts';
import type { LogEntry } from '../../core/index.ts';
import { callFingerprint } from '../../tools/internal.ts';
import type { RequestInput } from '../generator/yields.ts';
import type { ParkedCall } from '../vocabulary/tool-call.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { agentMessageEvent } from '../vocabulary/agent-message.ts';
import { toNodeInfo } from './workflow-places.ts';
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
  const content = { role: 'model' as const, parts: [call] };
  return agentMessageEvent(identity, step.invocationId, content, {
    nodeInfo: toNodeInfo(identity.agentName, step),
    longRunningToolIds: [callId],
  });
}

/** ADK's name for the function call of a node's question. */
const INPUT_CALL = 'adk_request_input';

/** The parked call of a node's question. The node waits for its answer in `node.waiting-…`. */
export function toParkedInputRequest(
  node: string,
  callId: string,
  { message, payload }: RequestInput,
  { invocationId }: NodeStep,
): ParkedCall {
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
    resume: { node },
  };
}

/** The node and its step of a question that 0.1.0 parked. */
export function fromFormerInputRequest({ resume }: ParkedCall): {
  readonly node: string;
  readonly step: NodeStep;
} {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- 0.1.0 wrote it
  return resume as unknown as { readonly node: string; readonly step: NodeStep };
}
