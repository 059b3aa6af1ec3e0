import { InvalidInputError } from '../../core/index.ts';
import { installed } from './missing-tool-package-error.ts';

/** Says whether a text has a match of a pattern somewhere. */
export type LinePattern = (text: string) => boolean;

/** How long a pattern may be. */
const MAX_PATTERN_LENGTH = 1_000;

/**
 * A regular expression in the syntax of RE2. It needs time in proportion to the text whatever the pattern is: a model
 * writes it, and one that backtracks could hold up the whole process.
 * @throws InvalidInputError for a pattern that is not one; lookaround and backreferences are not.
 * @throws MissingToolPackageError when `re2js` is not installed.
 */
export async function linePattern(
  pattern: string,
  { ignoreCase = false }: { readonly ignoreCase?: boolean } = {},
): Promise<LinePattern> {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new InvalidInputError('pattern', `is longer than ${MAX_PATTERN_LENGTH} characters.`);
  }
  const { RE2JS } = await installed('re2js', import('re2js'));
  try {
    const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    return (text) => compiled.matcher(text).find();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidInputError('pattern', `is not a regular expression of RE2: ${reason}`, {
      cause,
    });
  }
}
