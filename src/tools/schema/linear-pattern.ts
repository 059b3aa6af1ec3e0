import { createRequire } from 'node:module';
import type * as Re2 from 're2js';
import { InvalidInputError } from '../../core/index.ts';
import { toRe2Parts, type PatternPart } from './pattern-syntax.ts';

/** A regular expression from outside the program, such as from a tool's schema or a model. */
export interface LinearPattern {
  /** The largest number of steps for one character of text. */
  readonly cost: number;
  /**
   * Whether the text contains a match. The time is proportional to `cost` times the length of the
   * text.
   */
  readonly matches: (text: string) => boolean;
}

/** How to read a pattern. */
export interface PatternOptions {
  /** `ecma`: the syntax of JSON Schema (ECMA-262); `re2`: the syntax of RE2. Default: `ecma`. */
  readonly syntax?: 'ecma' | 're2';
  /** Ignores the difference of upper and lower case. Default: false. */
  readonly ignoreCase?: boolean;
}

/** The longest pattern, in characters. */
const MAX_PATTERN_LENGTH = 4_000;
/** The largest compiled program. Repetitions are expanded in it. */
const MAX_PATTERN_COST = 10_000;

/**
 * Compiles a regular expression that comes from outside the program. Use it for every such pattern:
 * `RegExp` backtracks, so one short pattern could block the process for hours. Here the time is
 * linear in the text.
 * @throws InvalidInputError if the pattern is not valid, is too large, or cannot run in linear time
 *   (backreferences, most lookahead)
 */
export function linearPattern(pattern: string, options: PatternOptions = {}): LinearPattern {
  const { syntax = 'ecma', ignoreCase = false } = options;
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new InvalidInputError('pattern', `is longer than ${MAX_PATTERN_LENGTH} characters.`);
  }
  const parts = compileParts(pattern, syntax, ignoreCase);
  const cost = parts.reduce((sum, { program }) => sum + program.programSize(), 0);
  if (cost > MAX_PATTERN_COST) {
    throw new InvalidInputError('pattern', `${quotePattern(pattern)} has too many repetitions.`);
  }
  return {
    cost,
    matches: (text) => parts.every(({ program, holds }) => program.test(text) === holds),
  };
}

interface CompiledPart extends PatternPart {
  readonly program: Re2.RE2JS;
}

// Loaded with the first pattern and then cached by Node: most programs use no pattern, and it would
// add a tenth to the import time of the package.
function loadRe2(): typeof Re2 {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- require() has no types
  return createRequire(import.meta.url)('re2js') as typeof Re2;
}

function compileParts(
  pattern: string,
  syntax: 'ecma' | 're2',
  ignoreCase: boolean,
): readonly CompiledPart[] {
  const { RE2JS } = loadRe2();
  const flags = RE2JS.LOOKBEHINDS | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  try {
    const parts = syntax === 're2' ? [{ source: pattern, holds: true }] : toRe2Parts(pattern);
    return parts.map((part) => ({ ...part, program: RE2JS.compile(part.source, flags) }));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidInputError(
      'pattern',
      `${quotePattern(pattern)} is not a regular expression of RE2: ${reason}`,
      { cause },
    );
  }
}

const SHOWN_LENGTH = 100;

function quotePattern(pattern: string): string {
  const part = pattern.length > SHOWN_LENGTH ? `${pattern.slice(0, SHOWN_LENGTH)}…` : pattern;
  return JSON.stringify(part);
}
