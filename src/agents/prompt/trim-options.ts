import { InvalidInputError } from '../../core/index.ts';
import type { Content, OptionNames } from '../../core/index.ts';

/**
 * How much of a conversation a model is shown. As the `context` of an agent it is a budget for the whole prompt:
 * instruction and tools count too.
 */
export interface TrimOptions {
  /** How much the model is shown at most, in tokens. */
  readonly maxTokens: number;
  /** How much is left when something must go, in tokens, so that the cut can stay for many calls. Default: 3/4 of `maxTokens`. */
  readonly trimToTokens?: number;
  /** Keeps the first message of the user, without its answer. Default: false. */
  readonly keepFirst?: boolean;
  /** Counts the tokens of one message. Default: an estimate of four characters a token. */
  readonly countTokens?: (content: Content) => number;
}

/** The names of the members above. */
export const TRIM_OPTION_NAMES: OptionNames<TrimOptions> = {
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
