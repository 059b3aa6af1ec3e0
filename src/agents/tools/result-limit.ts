import { isJsonObject } from '../../core/index.ts';
import {
  truncateResponse,
  DEFAULT_MAX_RESULT_CHARACTERS,
  type ResultLimit,
} from '../../tools/tool/truncate-response.ts';
import type { Tool } from '../../tools/index.ts';
import { LOAD_ARTIFACTS } from '../../tools/session-tools/load-artifacts-tool.ts';
import { ToolFailedError } from '../../tools/tool/tool-failed-error.ts';
import { failedToolResponse } from '../../tools/tool/tool-response.ts';

/** What limits the results of an agent's tools. */
export interface ResultLimitOptions {
  readonly tools: ReadonlyMap<string, Tool>;
  /** How many characters the result of a tool may have that does not say it itself. Default: 100,000. */
  readonly maxResultCharacters?: number;
}

/** What the result of a call of this tool is held to. */
export function resultLimit(
  { tools, maxResultCharacters = DEFAULT_MAX_RESULT_CHARACTERS }: ResultLimitOptions,
  toolName: string | undefined,
  kept: Pick<ResultLimit, 'callId' | 'save'>,
): ResultLimit {
  const own = toolName === undefined ? undefined : tools.get(toolName);
  const maxCharacters = own?.maxResultCharacters ?? maxResultCharacters;
  return { ...kept, maxCharacters, canLoad: tools.has(LOAD_ARTIFACTS) };
}

/** The error of a tool, or one that tells as much of it as a result may hold. */
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
