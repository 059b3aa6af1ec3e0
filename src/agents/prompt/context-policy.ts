import { omitUndefined } from '../../core/internal.ts';
import { encodeJson, InvalidInputError } from '../../core/index.ts';
import type { Content, InvocationId, JsonObject } from '../../core/index.ts';
import type { ToolDeclaration } from '../../models/index.ts';
import type { RunConfigJson } from '../../tools/index.ts';
import { BudgetTrimmer } from './budget-trimmer.ts';
import { estimateTextTokens } from './estimate-tokens.ts';
import { checkTrimOptions } from './trim-options.ts';
import type { TrimOptions } from './trim-options.ts';

/** The parts of a model call beside the conversation. */
export interface ContextInfo {
  readonly invocationId: InvocationId;
  /** The number of model answers in this invocation so far. */
  readonly round: number;
  readonly model: string;
  readonly instruction: string | undefined;
  readonly tools: readonly ToolDeclaration[];
  readonly state: JsonObject;
  /** The run config that was sent with the message of the invocation. Default: `{}`. */
  readonly runConfig: RunConfigJson;
}

/**
 * Selects the contents that the model is shown. The log and the session keep the whole conversation. The policy runs
 * before each call, and again after a crash, so it should return the same contents for the same conversation.
 */
export type ContextPolicy = (
  contents: readonly Content[],
  info: ContextInfo,
) => readonly Content[] | Promise<readonly Content[]>;

/**
 * Turns the `context` of a definition into a policy: a function is used as it is, a budget becomes a trimmer. The budget
 * covers the whole prompt: an estimate for instruction and tools is subtracted before the conversation is trimmed.
 * @throws InvalidInputError when the budget is out of range. The returned policy throws it when it selects no contents.
 */
export function toContextPolicy(context: ContextPolicy | TrimOptions): ContextPolicy {
  if (typeof context !== 'function') {
    checkTrimOptions(context);
    const trimmer = new BudgetTrimmer();
    return (contents, info) => trimmer.trim(contents, subtractFixedTokens(context, info));
  }
  return async (contents, info) => {
    const visible = await context(contents, info);
    if (visible.length > 0) return visible;
    throw new InvalidInputError('context', 'must leave the model at least one message.');
  };
}

/** The budget minus the estimated tokens of instruction and tools. */
function subtractFixedTokens(
  options: TrimOptions,
  { instruction = '', tools }: ContextInfo,
): TrimOptions {
  const toolTexts = tools.map((tool) => encodeJson(tool, 'tool'));
  const fixedTokens = estimateTextTokens([instruction, ...toolTexts].join(''));
  const { maxTokens, trimToTokens } = options;
  const rest = Math.max(1, maxTokens - fixedTokens);
  return {
    ...options,
    maxTokens: rest,
    ...omitUndefined({
      trimToTokens:
        trimToTokens === undefined
          ? undefined
          : Math.max(1, Math.min(rest, trimToTokens - fixedTokens)),
    }),
  };
}
