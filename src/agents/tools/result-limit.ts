import { isJsonObject } from '../../core/index.ts';
import {
  truncateResponse,
  DEFAULT_MAX_RESULT_CHARACTERS,
  type ResultLimit,
  LOAD_ARTIFACTS,
  ToolFailedError,
  failedToolResponse,
} from '../../tools/internal.ts';
import type { Tool } from '../../tools/index.ts';

/** Options that limit the results of an agent's tools. */
export interface ResultLimitOptions {
  readonly tools: ReadonlyMap<string, Tool>;
  /** The most characters in the result of a tool that sets no limit itself. Default: 100,000. */
  readonly maxResultCharacters?: number;
}

/** The limit for the result of a call of this tool. */
export function resultLimit(
  { tools, maxResultCharacters = DEFAULT_MAX_RESULT_CHARACTERS }: ResultLimitOptions,
  toolName: string | undefined,
  kept: Pick<ResultLimit, 'callId' | 'save'>,
): ResultLimit {
  const tool = toolName === undefined ? undefined : tools.get(toolName);
  const maxCharacters = tool?.maxResultCharacters ?? maxResultCharacters;
  return { ...kept, maxCharacters, canLoad: tools.has(LOAD_ARTIFACTS) };
}

/** The error of a tool, truncated to the limit of a result. */
export async function boundedError(error: unknown, limit: ResultLimit): Promise<unknown> {
  const failure = failedToolResponse(error);
  const bounded = await truncateResponse(failure, limit);
  if (bounded === failure) return error;
  const { error: inner, ...details } = bounded.response;
  const { code, message } = isJsonObject(inner) ? inner : {};
  if (typeof code !== 'string' || typeof message !== 'string') {
    return new ToolFailedError('The tool failed.', { details: bounded.response });
  }
  return new ToolFailedError(message, { code, details });
}
