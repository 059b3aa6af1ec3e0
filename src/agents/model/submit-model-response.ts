import { getFunctionCalls } from '../../core/index.ts';
import type { ModelResponse } from '../../models/index.ts';
import { MODEL_RESPONSE_TOOL } from '../prompt/prompt-identity.ts';

/**
 * Turns a call of `set_model_response` into the answer that it submits, unless it is a tool of the agent. Any other
 * response stays as it is.
 */
export function submitModelResponse(
  response: ModelResponse,
  ownTools: ReadonlySet<string>,
): ModelResponse {
  if (ownTools.has(MODEL_RESPONSE_TOOL)) return response;
  const submitted = getFunctionCalls(response).find(({ name }) => name === MODEL_RESPONSE_TOOL);
  if (submitted === undefined) return response;
  return {
    ...response,
    content: { role: 'model', parts: [{ text: JSON.stringify(submitted.args) }] },
    finishReason: 'stop',
  };
}
