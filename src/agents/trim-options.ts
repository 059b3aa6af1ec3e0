import { InvalidInputError } from '../core/index.ts';
import type { Content, OptionNames } from '../core/index.ts';

/**
 * How much of a conversation a model is shown. As the `context` of an agent it is a budget for the whole prompt:
 * instruction and tools count too.
 */
export interface TrimOptions {
  /** How much the model is shown at most, in tokens. */
  readonly maxTokens: number;
  /** How much is left when something must go; three quarters of `maxTokens` unless said. What lies between is not sent anew. */
  readonly trimToTokens?: number;
  /** Whether the first message of the user stays, though what was answered to it goes; `false` unless said. */
  readonly keepFirst?: boolean;
  /** Counts one message; four characters a token unless said. */
  readonly countTokens?: (content: Content) => number;
}

/** The names of the members above. */
export const TRIM_NAMES: OptionNames<TrimOptions> = {
  maxTokens: true,
  trimToTokens: true,
  keepFirst: true,
  countTokens: true,
};

/** @throws InvalidInputError */
export function checkTrimOptions({ maxTokens, trimToTokens = maxTokens }: TrimOptions): void {
  if (!(maxTokens > 0)) {
    throw new InvalidInputError('context.maxTokens', `must be above 0; it is ${maxTokens}.`);
  }
  if (!(trimToTokens > 0 && trimToTokens <= maxTokens)) {
    throw new InvalidInputError(
      'context.trimToTokens',
      `must be above 0 and at most maxTokens (${maxTokens}); it is ${trimToTokens}.`,
    );
  }
}
