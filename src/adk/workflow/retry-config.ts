import { InvalidInputError } from '../../core/index.ts';
import type { EffectFailure, Retry } from '../../net/index.ts';

/** How often, and when, a failed node is retried. */
export interface RetryConfig {
  /** Total number of attempts, including the first. Default: 5. */
  readonly maxAttempts?: number;
  /** Delay before the second attempt, in milliseconds. Default: 1,000. */
  readonly initialDelayMs?: number;
  /** Maximum delay, in milliseconds. Default: 60,000. */
  readonly maxDelayMs?: number;
  /** Factor by which each delay grows. Default: 2. */
  readonly backoffFactor?: number;
  /** Random share of each delay, from 0 to 1. Default: 1. */
  readonly jitter?: number;
  /** Names or classes of the errors to retry. A timeout is `NodeTimeoutError`. Default: all errors. */
  readonly exceptions?: readonly (string | (new (...args: never[]) => Error))[];
}

const DEFAULTS = {
  maxAttempts: 5,
  initialDelayMs: 1000,
  maxDelayMs: 60_000,
  backoffFactor: 2,
  jitter: 1,
} as const;

/** @throws InvalidInputError naming the invalid field */
export function toRetry(config: RetryConfig): Retry {
  const { maxAttempts, initialDelayMs, maxDelayMs, backoffFactor, jitter, exceptions } = {
    ...DEFAULTS,
    ...config,
  };
  if (!Number.isInteger(maxAttempts) || maxAttempts < 0)
    throw new InvalidInputError(
      'retryConfig.maxAttempts',
      `must be a whole number of 0 or more; it is ${maxAttempts}.`,
    );
  for (const [field, value] of Object.entries({ initialDelayMs, maxDelayMs, backoffFactor }))
    if (!(Number.isFinite(value) && value >= 0))
      throw new InvalidInputError(`retryConfig.${field}`, `must be 0 or more; it is ${value}.`);
  if (!(jitter >= 0 && jitter <= 1))
    throw new InvalidInputError('retryConfig.jitter', `must be from 0 to 1; it is ${jitter}.`);
  const names = exceptions?.map((one) => (typeof one === 'string' ? one : one.name));
  return {
    attempts: Math.max(1, maxAttempts),
    backoff: (failure) => {
      if (names !== undefined && !errorNames(failure).some((name) => names.includes(name)))
        return undefined;
      const whole = Math.min(maxDelayMs, initialDelayMs * backoffFactor ** (failure.attempt - 1));
      return Math.round(whole * (1 - jitter * Math.random()));
    },
  };
}

/** The names by which an error can be listed: its class name and its `name`. */
function errorNames({ kind, error }: EffectFailure): readonly string[] {
  if (kind === 'timeout') return ['NodeTimeoutError'];
  return error instanceof Error ? [error.constructor.name, error.name] : [];
}
