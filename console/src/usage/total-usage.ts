import type { UsageTotal } from '../../../src/client/index.ts';
import { findPrice, toCost } from './prices.ts';
import type { Price } from './prices.ts';

/** The usage of one agent, model or day. */
export interface UsageRow {
  readonly name: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In US dollars: of the models that have a price. */
  readonly cost: number;
  /** True if a model that was called has no price. */
  readonly isPartial: boolean;
}

/** Adds up totals by a name, the largest first. */
export function groupUsage(
  totals: readonly UsageTotal[],
  name: (total: UsageTotal) => string,
  prices: readonly Price[],
): readonly UsageRow[] {
  return [...Map.groupBy(totals, name)]
    .map(([key, group]) => addUsage(key, group, prices))
    .toSorted((a, b) => b.inputTokens + b.outputTokens - (a.inputTokens + a.outputTokens));
}

/** Adds up totals. */
export function addUsage(
  name: string,
  totals: readonly UsageTotal[],
  prices: readonly Price[],
): UsageRow {
  const sum = (read: (total: UsageTotal) => number): number =>
    totals.reduce((all, total) => all + read(total), 0);
  const price = ({ model }: UsageTotal): Price | undefined => findPrice(model ?? '', prices);
  return {
    name,
    calls: sum(({ calls }) => calls),
    inputTokens: sum((total) => total.input_tokens),
    outputTokens: sum((total) => total.output_tokens),
    cost: sum((total) => {
      const found = price(total);
      const tokens = { inputTokens: total.input_tokens, outputTokens: total.output_tokens };
      return found === undefined ? 0 : toCost(found, tokens);
    }),
    isPartial: totals.some((total) => price(total) === undefined),
  };
}

/** The UTC days from one to another, both included, as `YYYY-MM-DD`. */
export function listDays(from: string, to: string): readonly string[] {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000)
    days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}
