import { InvalidInputError } from '../../core/index.ts';
import type { Content, OptionNames } from '../../core/index.ts';

/**
 * Limits the part of the conversation that a model is shown. As the `context` of an agent it is a budget for the whole
 * prompt: instruction and tools count too.
 */
export interface TrimOptions {
  /** The maximum shown to the model, in tokens. */
  readonly maxTokens: number;
  /** The size after a cut, in tokens. A lower value makes each cut last for more calls. Default: 3/4 of `maxTokens`. */
  readonly trimToTokens?: number;
  /** Keeps the first user message, without its answer. Default: false. */
  readonly keepFirst?: boolean;
  /** Counts the tokens of one message. Default: an estimate of four characters a token. */
  readonly countTokens?: (content: Content) => number;
}

/** The names of the options, for `checkOptions`. */
export const TRIM_OPTION_NAMES: OptionNames<TrimOptions> = {
  maxTokens: true,
  trimToTokens: true,
  keepFirst: true,
  countTokens: true,
};

/**
 * Checks the token limits.
 * @throws InvalidInputError unless `maxTokens` is above 0 and `trimToTokens` is above 0 and at most `maxTokens`
 */
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
