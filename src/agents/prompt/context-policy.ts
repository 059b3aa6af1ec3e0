import { encodeJson, InvalidInputError } from '../../core/index.ts';
import type { Content, InvocationId, JsonObject } from '../../core/index.ts';
import type { ToolDeclaration } from '../../models/index.ts';
import { BudgetTrimmer } from './budget-trimmer.ts';
import { estimateTextTokens } from './estimate-tokens.ts';
import { checkTrimOptions } from './trim-options.ts';
import type { TrimOptions } from './trim-options.ts';

/** What a model call is about to say beside the conversation. */
export interface ContextInfo {
  readonly invocationId: InvocationId;
  /** How many answers of this invocation came before. */
  readonly round: number;
  readonly model: string;
  readonly instruction: string | undefined;
  readonly tools: readonly ToolDeclaration[];
  readonly state: JsonObject;
}

/**
 * What the model is shown of a conversation. The log and the session keep all of it. It is asked before each call, also
 * after a crash, so the same conversation should give the same.
 */
export type ContextPolicy = (
  contents: readonly Content[],
  info: ContextInfo,
) => readonly Content[] | Promise<readonly Content[]>;

/**
 * The policy that a definition asks for: a function as it is, a budget as the trimmer that keeps to it. The budget is
 * for the whole prompt: instruction and tools are counted, by estimate, before the conversation.
 * @throws InvalidInputError when the budget is out of range; so does the policy that leaves nothing to show.
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

/** The budget without what is said with each call. */
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
    ...(trimToTokens !== undefined && {
      trimToTokens: Math.max(1, Math.min(rest, trimToTokens - fixedTokens)),
    }),
  };
}
