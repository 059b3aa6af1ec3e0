import { isRecord } from '../../core/internal.ts';
import { isJsonObject, type FinishReason } from '../../core/index.ts';
import { ModelError } from './model-error.ts';
import type { ModelResponse } from './model.ts';

/** The most calls that one response may make. */
export const MAX_CALLS_PER_RESPONSE = 1_000;

const FINISH_REASONS: ReadonlySet<unknown> = new Set<FinishReason>([
  'stop',
  'tool_calls',
  'max_tokens',
  'refusal',
  'other',
]);

/**
 * Checks the shape of a response. A model may be third-party code and its content is untrusted; the
 * parts are read one by one later.
 * @throws ModelError of kind `protocol`
 */
export function checkResponse(response: ModelResponse, model: string): ModelResponse {
  const problem = findProblem(response);
  if (problem === undefined) return response;
  throw new ModelError({ model, kind: 'protocol', message: `${problem}.` });
}

function findProblem(response: unknown): string | undefined {
  if (!isRecord(response) || !isRecord(response['content'])) return 'the response has no content';
  const { content, finishReason, usage = {}, providerMetadata = {} } = response;
  const { role, parts } = content;
  if (role !== 'model') return 'the content of the response does not have the role "model"';
  if (!Array.isArray(parts)) return 'the response has no list of parts';
  const items: readonly unknown[] = parts;
  if (items.some((part) => isRecord(part) && 'functionResponse' in part))
    return 'the response contains the result of a call, which only a tool may give';
  const calls = items.filter((part) => isRecord(part) && 'functionCall' in part).length;
  if (calls > MAX_CALLS_PER_RESPONSE)
    return `the response makes ${calls} calls; at most ${MAX_CALLS_PER_RESPONSE} are allowed`;
  if (!FINISH_REASONS.has(finishReason)) return 'the response has an unknown finish reason';
  if (!isRecord(usage) || !Object.values(usage).every(Number.isFinite))
    return 'the response has a token count that is not a number';
  if (!isJsonObject(providerMetadata)) return 'the response has metadata that is not JSON';
  return undefined;
}
