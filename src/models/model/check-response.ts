import { isJsonObject, type FinishReason } from '../../core/index.ts';
import { ModelError } from './model-error.ts';
import type { ModelResponse } from './model.ts';

/** The most calls that one answer may make. */
export const MAX_CALLS_PER_RESPONSE = 1_000;

const FINISH_REASONS: ReadonlySet<unknown> = new Set<FinishReason>([
  'stop',
  'tool_calls',
  'max_tokens',
  'refusal',
  'other',
]);

/**
 * Checks the shape of an answer, whoever made it: a model may be anybody's code, and what it says anybody's words. Its
 * parts are read one by one later.
 * @throws ModelError of kind `protocol`
 */
export function checkResponse(response: ModelResponse, model: string): ModelResponse {
  const problem = findProblem(response);
  if (problem === undefined) return response;
  throw new ModelError({ model, kind: 'protocol', message: `${problem}.` });
}

function findProblem(response: unknown): string | undefined {
  if (!isRecord(response) || !isRecord(response['content'])) return 'the answer has no content';
  const { content, finishReason, usage = {}, providerMetadata = {} } = response;
  const { role, parts } = content;
  if (role !== 'model') return 'the answer is not in the role "model"';
  if (!Array.isArray(parts)) return 'the answer has no list of parts';
  const own: readonly unknown[] = parts;
  if (own.some((part) => isRecord(part) && 'functionResponse' in part))
    return 'the answer holds the result of a call, which only a tool gives';
  const calls = own.filter((part) => isRecord(part) && 'functionCall' in part).length;
  if (calls > MAX_CALLS_PER_RESPONSE)
    return `the answer makes ${calls} calls; at most ${MAX_CALLS_PER_RESPONSE} are taken`;
  if (!FINISH_REASONS.has(finishReason)) return 'the answer has no known finish reason';
  if (!isRecord(usage) || !Object.values(usage).every(Number.isFinite))
    return 'the answer counts its tokens with something that is no number';
  if (!isJsonObject(providerMetadata)) return 'the answer has metadata that is not JSON';
  return undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
