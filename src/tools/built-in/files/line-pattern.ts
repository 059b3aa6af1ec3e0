import { InvalidInputError } from '../../../core/index.ts';
import { linearPattern } from '../../schema/linear-pattern.ts';

/** Says whether a text has a match of a pattern somewhere. */
export type LinePattern = (text: string) => boolean;

/** How long a pattern may be. */
const MAX_PATTERN_LENGTH = 1_000;
/** How much a pattern may cost for one text. Beyond that the text is not searched. */
const MAX_STEPS = 50_000_000;

/**
 * A regular expression that a model wrote, in the syntax of RE2. It needs time in proportion to the text.
 * @throws InvalidInputError for a pattern that is not one; lookahead and backreferences are not.
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
