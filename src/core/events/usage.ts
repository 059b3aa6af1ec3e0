import { omitUndefined } from '../json/omit-undefined.ts';
/** The token usage of model calls. Totals include their parts, even if the provider reports them separately. */
export type Usage = {
  /** All input tokens, including cached ones. */
  readonly inputTokens: number;
  /** All output tokens, including thinking. */
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly thinkingTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
};

/** The usage of no model call. */
export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** Adds two usages. The sum has an optional count if `a` or `b` has it. */
export function addUsage(a: Usage, b: Usage): Usage {
  const thinkingTokens = sum(a.thinkingTokens, b.thinkingTokens);
  const cacheReadTokens = sum(a.cacheReadTokens, b.cacheReadTokens);
  const cacheWriteTokens = sum(a.cacheWriteTokens, b.cacheWriteTokens);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    ...omitUndefined({ thinkingTokens, cacheReadTokens, cacheWriteTokens }),
  };
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
}
