/** Tokens a model counted. Totals include their parts, whatever the provider's own habit is. */
export type Usage = {
  /** Everything read, cached tokens included. */
  readonly inputTokens: number;
  /** Everything written, thinking included. */
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly thinkingTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
};

/** Nothing counted yet. */
export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** The sum. An optional count is in the sum when it is in either. */
export function addUsage(a: Usage, b: Usage): Usage {
  const thinkingTokens = sum(a.thinkingTokens, b.thinkingTokens);
  const cacheReadTokens = sum(a.cacheReadTokens, b.cacheReadTokens);
  const cacheWriteTokens = sum(a.cacheWriteTokens, b.cacheWriteTokens);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    ...(thinkingTokens !== undefined && { thinkingTokens }),
    ...(cacheReadTokens !== undefined && { cacheReadTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
  };
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
}
