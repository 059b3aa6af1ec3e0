import { omitUndefined } from '../../core/internal.ts';
import { isJsonObject, type Usage } from '../../core/index.ts';

/**
 * Converts the token counts of a stream. Totals include their parts, whatever the provider's
 * convention. Parts of 0 are left out. Returns undefined if the provider sent no counts.
 */
export function toUsage(counted: unknown): Usage | undefined {
  if (!isJsonObject(counted)) return undefined;
  const { inputTokens: input, outputTokens: output } = counted;
  const inputTokens = readCount(input, 'total');
  const outputTokens = readCount(output, 'total');
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  const thinkingTokens = readCount(output, 'reasoning');
  const cacheReadTokens = readCount(input, 'cacheRead');
  const cacheWriteTokens = readCount(input, 'cacheWrite');
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    totalTokens: (inputTokens ?? 0) + (outputTokens ?? 0),
    ...omitUndefined({ thinkingTokens, cacheReadTokens, cacheWriteTokens }),
  };
}

function readCount(counts: unknown, name: string): number | undefined {
  const count = isJsonObject(counts) ? counts[name] : undefined;
  return typeof count === 'number' && count > 0 ? count : undefined;
}
