import { createRequire } from 'node:module';
import type * as Re2 from 're2js';
import { InvalidInputError } from '../../core/index.ts';
import { toRe2Parts, type PatternPart } from './pattern-syntax.ts';

/** A regular expression from outside the program, such as one of a tool's schema or one that a model wrote. */
export interface LinearPattern {
  /** How many steps one character of a text can need at most. */
  readonly cost: number;
  /** Says whether a text has a match somewhere. The time it needs is proportional to `cost` times the text's length. */
  readonly matches: (text: string) => boolean;
}

/** How a pattern is written. */
export interface PatternOptions {
  /** `ecma`: as JSON Schema has them; `re2`: as RE2 does. Default: `ecma`. */
  readonly syntax?: 'ecma' | 're2';
  /** Takes upper and lower case for the same. Default: false. */
  readonly ignoreCase?: boolean;
}

/** How long a pattern may be. */
const MAX_PATTERN_LENGTH = 4_000;
/** How large its program may be: repetitions are written out in it. */
const MAX_PATTERN_COST = 10_000;

/**
 * Compiles a regular expression from outside the program, the only way it is done here. `RegExp` backtracks: one short
 * pattern could hold up the process for hours. This one needs time in proportion to the text.
 * @throws InvalidInputError for a pattern that is none, is too large, or has what cannot be matched in linear time
 * (backreferences, most lookahead).
 */
export function linearPattern(pattern: string, options: PatternOptions = {}): LinearPattern {
  const { syntax = 'ecma', ignoreCase = false } = options;
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new InvalidInputError('pattern', `is longer than ${MAX_PATTERN_LENGTH} characters.`);
  }
  const parts = compiled(pattern, syntax, ignoreCase);
  const cost = parts.reduce((sum, { program }) => sum + program.programSize(), 0);
  if (cost > MAX_PATTERN_COST) {
    throw new InvalidInputError('pattern', `${shown(pattern)} has too many repetitions.`);
  }
  return {
    cost,
    matches: (text) => parts.every(({ program, holds }) => program.test(text) === holds),
  };
}

interface CompiledPart extends PatternPart {
  readonly program: Re2.RE2JS;
}

// It is loaded with the first pattern, and then kept by Node: most programs have none, and it would add a tenth to the
// time that importing the root takes.
function loadRe2(): typeof Re2 {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- require() tells no types
  return createRequire(import.meta.url)('re2js') as typeof Re2;
}

function compiled(
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
      `${shown(pattern)} is not a regular expression of RE2: ${reason}`,
      { cause },
    );
  }
}

const SHOWN_LENGTH = 100;

function shown(pattern: string): string {
  const part = pattern.length > SHOWN_LENGTH ? `${pattern.slice(0, SHOWN_LENGTH)}…` : pattern;
  return JSON.stringify(part);
}
