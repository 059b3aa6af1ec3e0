/** What a model costs, in US dollars for a million tokens. */
export interface Price {
  /** A model whose id begins with it has the price. */
  readonly model: string;
  readonly input: number;
  readonly output: number;
}

/** Tokens of model calls. */
export interface PricedUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const TOKENS_PER_PRICE = 1_000_000;

/** Returns the price of a model: the one with the longest matching beginning. Undefined: none was entered. */
export function findPrice(model: string, prices: readonly Price[]): Price | undefined {
  return prices
    .filter((price) => price.model !== '' && model.startsWith(price.model))
    .toSorted((a, b) => b.model.length - a.model.length)[0];
}

/** Returns what tokens cost, in US dollars. */
export function toCost(price: Price, { inputTokens, outputTokens }: PricedUsage): number {
  return (inputTokens * price.input + outputTokens * price.output) / TOKENS_PER_PRICE;
}
