import { InvalidInputError } from '../../../core/index.ts';
import { linearPattern } from '../../schema/linear-pattern.ts';

/** Whether a text contains a match of a pattern. */
export type LinePattern = (text: string) => boolean;

/** The longest pattern, in characters. */
const MAX_PATTERN_LENGTH = 1_000;
/** The largest cost of a pattern for one text. A costlier search is rejected. */
const MAX_STEPS = 50_000_000;

/**
 * Compiles a regular expression that a model wrote, in RE2 syntax. It runs in linear time.
 * @throws InvalidInputError for an invalid pattern; lookahead and backreferences are invalid in RE2
 */
export function linePattern(
  pattern: string,
  { ignoreCase = false }: { readonly ignoreCase?: boolean } = {},
): LinePattern {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new InvalidInputError('pattern', `is longer than ${MAX_PATTERN_LENGTH} characters.`);
  }
  const { cost, matches } = linearPattern(pattern, { syntax: 're2', ignoreCase });
  return (text) => {
    if (cost * text.length > MAX_STEPS) {
      const problem = `is too costly for a line of ${text.length} characters: use fewer repetitions.`;
      throw new InvalidInputError('pattern', problem);
    }
    return matches(text);
  };
}
