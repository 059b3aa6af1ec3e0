import { omitUndefined } from '../../core/internal.ts';
import {
  calledAgentFiring,
  calledAgentRequest,
  calledAgentResume,
  decodeJson,
  isJsonObject,
} from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';
import { pending, type Pending } from '../../tools/internal.ts';
import type { ToolContext } from '../../tools/index.ts';
import { toRequestText } from './agent-tool.ts';
import type { AgentBackedTool } from './agent-tool.ts';
import { runChildAgent } from '../vocabulary/agent-host.ts';
import type { Call } from '../vocabulary/tool-call.ts';

export interface AgentCall {
  readonly host: unknown;
  readonly tool: AgentBackedTool;
  readonly call: Call;
  readonly context: ToolContext;
  /** The state that the call sees. */
  readonly state: JsonObject;
  /** The calling agent's limit of model calls. */
  readonly maxModelCalls?: number | undefined;
}

/**
 * Runs a call of an agent. The agent's last message is the result; its state changes and saved artifacts are applied to
 * the call. While the agent waits for an answer from outside, the call is pending.
 * @throws Error outside a runtime
 */
export async function callAgent({
  host,
  tool,
  call,
  context,
  state,
  maxModelCalls,
}: AgentCall): Promise<Pending | JsonObject> {
  const firingId = calledAgentFiring(call.answer?.resume) ?? context.firingId;
  const outcome = await runChildAgent(host, {
    agentName: tool.agent.name,
    request: toRequestText(call.args),
    firingId,
    signal: context.signal,
    invocationId: call.invocationId,
    state,
    ...omitUndefined({ maxModelCalls }),
    parks: true,
  });
  if (outcome.kind === 'waiting')
    return pending({
      request: calledAgentRequest(outcome.waits),
      resume: calledAgentResume(firingId),
    });
  for (const [key, value] of Object.entries(outcome.stateDelta)) context.state.set(key, value);
  for (const key of outcome.removed) context.state.delete(key);
  const { artifactDelta } = outcome;
  if (Object.keys(artifactDelta).length > 0) context.act({ artifactDelta });
  if (tool.skipSummarization) context.actions.skipSummarization();
  return tool.returnsJson === true ? toValue(outcome.response) : outcome.response;
}

/** The value of an answer in JSON. A text that is no JSON is the result itself. */
function toValue(response: JsonObject): JsonObject {
  const { result } = response;
  if (typeof result !== 'string') return response;
  try {
    const value = decodeJson(result, 'result');
    return isJsonObject(value) ? value : { result: value };
  } catch {
    return response;
  }
}
