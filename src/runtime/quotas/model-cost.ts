import { PetrichorError } from '../../core/index.ts';
import type { Usage } from '../../core/index.ts';
import type { UsageTotal } from '../../store/index.ts';
import type { ModelPrice, Quotas } from './quotas.ts';

type Prices = NonNullable<Quotas['usdPerMillionTokens']>;

/** The price of every model that has none of its own. */
const ANY_MODEL = '*';

/**
 * A quota in USD applies to the session, and the model has no price. The model was not called.
 * @remedy Add the model, or `*` for every other one, to `usdPerMillionTokens` of the option `quotas`.
 */
export class ModelPriceMissingError extends PetrichorError {
  override readonly code = 'model_price_missing' as const;
  readonly model: string;

  constructor(model: string) {
    super(
      `The model "${model}" has no price, and a quota in USD applies. Add it, or "*" for every other model, to usdPerMillionTokens of the quotas.`,
    );
    this.model = model;
  }
}

/** @throws ModelPriceMissingError */
export function assertPriced(prices: Prices = {}, model: string): void {
  if (findPrice(prices, model) === undefined) throw new ModelPriceMissingError(model);
}

/**
 * What answers cost, in USD. Those of a model without a price, and those whose model is not known, have the highest
 * price of the table, so that a budget never lasts longer than it should.
 */
export function sumCost(
  totals: readonly Pick<UsageTotal, 'model' | 'tokens'>[],
  prices: Prices = {},
): number {
  return totals.reduce(
    (sum, { model = '', tokens }) =>
      sum + toCost(tokens, findPrice(prices, model) ?? toHighestPrice(prices)),
    0,
  );
}

function findPrice(prices: Prices, model: string): ModelPrice | undefined {
  // The empty name is that of a model that is not known, which may be the dearest.
  if (model === '') return undefined;
  return [model, ANY_MODEL].flatMap((name) =>
    Object.hasOwn(prices, name) ? (prices[name] ?? []) : [],
  )[0];
}

function toHighestPrice(prices: Prices): ModelPrice {
  const all = Object.values(prices);
  const highest = (read: (price: ModelPrice) => number): number => Math.max(0, ...all.map(read));
  return {
    input: highest(({ input }) => input),
    output: highest(({ output }) => output),
    cacheRead: highest(({ input, cacheRead = input }) => cacheRead),
    cacheWrite: highest(({ input, cacheWrite = input }) => cacheWrite),
  };
}

function toCost(
  { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }: Usage,
  { input, output, cacheRead = input, cacheWrite = input }: ModelPrice,
): number {
  // The input tokens include those of the cache.
  const uncached = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const micros =
    uncached * input +
    cacheReadTokens * cacheRead +
    cacheWriteTokens * cacheWrite +
    outputTokens * output;
  return micros / 1_000_000;
}
