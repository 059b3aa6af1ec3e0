import * as v from 'valibot';
import { QUOTA_LABELS } from '../../core/internal.ts';
import { parseJsonWithSchema } from '../../core/validation/parse-with-schema.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { QuotaName } from '../../core/index.ts';

/** The limits of a user, or of the app. A quota that is missing has no limit. */
export interface QuotaLimits {
  /** Input and output tokens of all model calls in a UTC day. */
  readonly tokensPerDay?: number | null;
  /** Input and output tokens of all model calls in a UTC month. */
  readonly tokensPerMonth?: number | null;
  /** What the model calls of a UTC day cost, by the option `usdPerMillionTokens`. */
  readonly usdPerDay?: number | null;
  /** What the model calls of a UTC month cost, by the option `usdPerMillionTokens`. */
  readonly usdPerMonth?: number | null;
  /** Sessions that are neither archived nor completed, without those of called agents. */
  readonly sessions?: number | null;
  readonly schedules?: number | null;
  /** Bytes of the records and events of all sessions, as JSON, and of their artifacts. */
  readonly storageBytes?: number | null;
}

/** The price of a model, in USD per million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input tokens that were read from the provider's cache. Default: `input`. */
  readonly cacheRead?: number;
  /** Input tokens that were written to the provider's cache. Default: `input`. */
  readonly cacheWrite?: number;
}

/** How much the sessions of a runtime may use. */
export interface Quotas {
  /** The limits of all users together. */
  readonly app?: QuotaLimits;
  /** The limits of each user. */
  readonly user?: QuotaLimits;
  /** The limits of single users, by their names. They replace those of `user`; `null` lifts one. */
  readonly users?: Readonly<Record<string, QuotaLimits>>;
  /**
   * The prices of the models, by their names. `*` is the price of every other model. A model without a price may not be
   * called where a quota in USD applies.
   */
  readonly usdPerMillionTokens?: Readonly<Record<string, ModelPrice>>;
}

const count = v.exactOptional(
  v.nullable(
    v.pipe(
      v.number('must be a number'),
      v.safeInteger('must be an integer'),
      v.minValue(0, 'must be at least 0'),
    ),
  ),
);
const usd = v.pipe(
  v.number('must be a number'),
  v.finite('must be finite'),
  v.minValue(0, 'must be at least 0'),
);

const limits = v.strictObject({
  tokensPerDay: count,
  tokensPerMonth: count,
  usdPerDay: v.exactOptional(v.nullable(usd)),
  usdPerMonth: v.exactOptional(v.nullable(usd)),
  sessions: count,
  schedules: count,
  storageBytes: count,
} satisfies Record<QuotaName, unknown>);

const price = v.strictObject({
  input: usd,
  output: usd,
  cacheRead: v.exactOptional(usd),
  cacheWrite: v.exactOptional(usd),
});

const quotas = v.strictObject({
  app: v.exactOptional(limits),
  user: v.exactOptional(limits),
  users: v.exactOptional(v.record(v.string(), limits)),
  usdPerMillionTokens: v.exactOptional(v.record(v.string(), price)),
});

/**
 * Checks quotas from outside.
 * @throws InvalidInputError, UnknownFieldError with the path of the field
 */
export function parseQuotas(value: unknown, field = 'quotas'): Quotas {
  const parsed: Quotas = parseJsonWithSchema(quotas, value, field);
  const all = [parsed.app, parsed.user, ...Object.values(parsed.users ?? {})];
  const needsPrices = all.some((one) => isSet(one?.usdPerDay) || isSet(one?.usdPerMonth));
  if (needsPrices && Object.keys(parsed.usdPerMillionTokens ?? {}).length === 0)
    throw new InvalidInputError(
      `${field}.usdPerMillionTokens`,
      'must have the prices of the models, because a quota is in USD. Add { "MODEL": { "input": 1.25, "output": 10 } }.',
    );
  return parsed;
}

function isSet(limit: number | null | undefined): limit is number {
  return limit !== undefined && limit !== null;
}

/** A quota with its limit. */
export type SetLimit = readonly [quota: QuotaName, limit: number];

/** Lists the limits that are set. */
export function listLimits(given: QuotaLimits = {}): readonly SetLimit[] {
  const names: readonly QuotaName[] = Object.keys(QUOTA_LABELS).filter(isQuotaName);
  return names.flatMap((name): readonly SetLimit[] => {
    const limit = given[name];
    return isSet(limit) ? [[name, limit]] : [];
  });
}

function isQuotaName(name: string): name is QuotaName {
  return Object.hasOwn(QUOTA_LABELS, name);
}

/** The limits of a user: those of every user, replaced by its own. */
export function findUserLimits({ user, users = {} }: Quotas, name: string): QuotaLimits {
  const own = Object.hasOwn(users, name) ? users[name] : undefined;
  return { ...user, ...own };
}
