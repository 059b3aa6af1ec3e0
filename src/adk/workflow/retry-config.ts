import { InvalidInputError } from '../../core/index.ts';
import type { EffectFailure, Retry } from '../../net/index.ts';

/** How often a node that fails is tried again, and when. */
export interface RetryConfig {
  /** In all, the first attempt included; 5 unless given. */
  readonly maxAttempts?: number;
  /** Before the second attempt; 1,000 unless given. */
  readonly initialDelayMs?: number;
  /** 60,000 unless given. */
  readonly maxDelayMs?: number;
  /** How much longer each wait is than the one before; 2 unless given. */
  readonly backoffFactor?: number;
  /** How much of a wait is left to chance, from 0 to 1; 1 unless given. */
  readonly jitter?: number;
  /** Names or classes of the errors that are worth another attempt; all of them unless given. A timeout is `NodeTimeoutError`. */
  readonly exceptions?: readonly (string | (new (...args: never[]) => Error))[];
}

const DEFAULTS = {
  maxAttempts: 5,
  initialDelayMs: 1000,
  maxDelayMs: 60_000,
  backoffFactor: 2,
  jitter: 1,
} as const;

/** @throws InvalidInputError naming the field */
export function toRetry(config: RetryConfig): Retry {
  const { maxAttempts, initialDelayMs, maxDelayMs, backoffFactor, jitter, exceptions } = {
    ...DEFAULTS,
    ...config,
  };
  if (!Number.isInteger(maxAttempts) || maxAttempts < 0)
    throw new InvalidInputError('retryConfig.maxAttempts', 'must be a whole number from 0 on.');
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

/** What an error is called: by its class, and by itself. */
function errorNames({ kind, error }: EffectFailure): readonly string[] {
  if (kind === 'timeout') return ['NodeTimeoutError'];
  return error instanceof Error ? [error.constructor.name, error.name] : [];
}
