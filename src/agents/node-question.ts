import type { LogEntry } from '../core/index.ts';
import { fingerprintOf } from '../tools/fingerprint.ts';
import type { RequestInput } from './node-event.ts';
import { asJson } from './node-given.ts';
import { nodeInfoOf } from './node-saying.ts';
import type { ParkedCall } from './places.ts';
import { branchOf } from './speaking.ts';
import type { Speaking } from './speaking.ts';
import type { NodeStep } from './workflow-places.ts';

/** How the log says that a node asks: as a call that is answered later. */
export function inputEvent(
  speaking: Speaking,
  step: NodeStep,
  callId: string,
  { message, payload }: RequestInput,
): LogEntry {
  const args = {
    ...(message !== undefined && { message }),
    ...(payload !== undefined && { payload }),
  };
  const call = { functionCall: { id: callId, name: INPUT_CALL, args } };
  return {
    type: 'agent.message',
    invocationId: step.invocationId,
    author: speaking.agentName,
    ...branchOf(speaking),
    content: { role: 'model', parts: [call] },
    nodeInfo: nodeInfoOf(speaking, step),
    longRunningToolIds: [callId],
  };
}

/** ADK's name for the call by which a node asks. */
const INPUT_CALL = 'adk_request_input';

export function parkedBy(
  node: string,
  callId: string,
  { message, payload }: RequestInput,
  step: NodeStep,
): ParkedCall {
  const { invocationId } = step;
  const request = {
    ...(message !== undefined && { message }),
    ...(payload !== undefined && { payload }),
  };
  return {
    invocationId,
    callId,
    name: INPUT_CALL,
    args: {},
    index: 0,
    needs: 'result',
    reason: 'policy',
    fingerprint: fingerprintOf(INPUT_CALL, request),
    request,
    resume: asJson({ node, step }, 'step'),
  };
}

/** Which node asked, and where it stands. */
export function askedBy({ resume }: ParkedCall): {
  readonly node: string;
  readonly step: NodeStep;
} {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `parkedBy` wrote it
  return resume as unknown as { readonly node: string; readonly step: NodeStep };
}
