import { readOwn } from '../../core/internal.ts';

/**
 * One part of a pattern in RE2 syntax. A text matches the pattern if, for every part, its match
 * equals `holds`.
 */
export interface PatternPart {
  readonly source: string;
  readonly holds: boolean;
}

/**
 * Translates a regular expression of ECMA-262, the syntax of JSON Schema, to RE2. Lookahead is
 * supported directly after a leading `^`: each becomes a separate part.
 * @throws SyntaxError for a backreference, lookahead elsewhere, or an unknown escape
 */
export function toRe2Parts(pattern: string): readonly PatternPart[] {
  const parts: PatternPart[] = [];
  let rest = pattern.startsWith('^') ? pattern.slice(1) : pattern;
  while (rest !== pattern && /^\(\?[=!]/.test(rest)) {
    const end = endOfGroup(rest);
    const source = `^(?:${translate(rest.slice(3, end))})`;
    parts.push({ source, holds: rest[2] === '=' });
    rest = rest.slice(end + 1);
  }
  if (parts.length === 0) return [{ source: translate(pattern), holds: true }];
  // In `^(?!a)b|c` the lookahead belongs to the first alternative alone.
  if (hasAlternatives(rest)) throw new SyntaxError('lookahead beside "|" is not supported');
  return [...parts, { source: `^${translate(rest)}`, holds: true }];
}

// Matches one token: an escape, the start of a group, or a character.
const TOKEN =
  /\\u\{[0-9a-f]+\}|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\c[a-z]|\\p\{[^}]*\}|\\.|\(\?<?[=!]|\(\?<|./gisu;

const SPACE = String.raw`\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}`;
const NOT_SPACE = String.raw`\x00-\x08\x0E-\x1F!-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{FEFE}\x{FF00}-\x{10FFFF}`;
const ANY_CHARACTER = String.raw`[\x00-\x{10FFFF}]`;
const NO_CHARACTER = String.raw`[^\x00-\x{10FFFF}]`;
const NOT_LINE_END = String.raw`[^\n\r\x{2028}\x{2029}]`;

function translate(pattern: string): string {
  let inClass = false;
  const tokens = pattern.match(TOKEN) ?? [];
  return tokens
    .map((token, i) => {
      if (token.startsWith('\\')) return escapeInRe2(token, inClass);
      if (inClass) {
        // `[]` and `[^]` were already translated as a whole at their `[`.
        if (token === ']') inClass = false;
        else if (token === '[') return String.raw`\[`;
        else if (isEmptyClass(tokens, i)) return '';
        return isClosedAlready(tokens, i) ? '' : token;
      }
      switch (token) {
        case '[':
          inClass = true;
          if (tokens[i + 1] === ']') return NO_CHARACTER;
          return tokens[i + 1] === '^' && tokens[i + 2] === ']' ? ANY_CHARACTER : token;
        case '.':
          return NOT_LINE_END;
        case '(?=':
        case '(?!':
          throw new SyntaxError(
            `lookahead "${token}" is supported only directly after a leading "^"`,
          );
        case '(?<':
          return '(?P<';
        default:
          return token;
      }
    })
    .join('');
}

// The `^` of `[^]`.
function isEmptyClass(tokens: readonly string[], i: number): boolean {
  return tokens[i] === '^' && tokens[i - 1] === '[' && tokens[i + 1] === ']';
}

// The `]` of `[]` and `[^]`.
function isClosedAlready(tokens: readonly string[], i: number): boolean {
  if (tokens[i] !== ']') return false;
  return tokens[i - 1] === '[' || (tokens[i - 1] === '^' && tokens[i - 2] === '[');
}

function escapeInRe2(token: string, inClass: boolean): string {
  const kind = token[1] ?? '';
  const code = codePoint(token);
  if (code !== undefined) return String.raw`\x{${code.toString(16)}}`;
  if (kind === 's') return inClass ? SPACE : `[${SPACE}]`;
  if (kind === 'S') return inClass ? NOT_SPACE : `[${NOT_SPACE}]`;
  if ((kind === 'p' || kind === 'P') && token.length > 2) return property(kind, token.slice(3, -1));
  if (kind === 'b' && inClass) return String.raw`\x08`;
  if (kind === 'Z') return String.raw`\z`;
  if (/[dDwWbBtnrvfAz]/.test(kind)) return token;
  if (/[1-9k]/.test(kind)) throw new SyntaxError(`backreference "${token}" is not supported`);
  if (kind === '' || /[A-Za-z0-9]/.test(kind))
    throw new SyntaxError(`"${token}" is not a valid escape`);
  return kind < '\u0080' ? token : kind;
}

function codePoint(token: string): number | undefined {
  const pair = /^\\u(d[89ab]..)\\u(d[c-f]..)$/i.exec(token);
  if (pair !== null) {
    const [, high = '', low = ''] = pair;
    return String.fromCharCode(parseInt(high, 16), parseInt(low, 16)).codePointAt(0);
  }
  const hex = /^\\(?:u\{?|x)([0-9a-f]+)\}?$/i.exec(token)?.[1];
  if (hex !== undefined) return parseInt(hex, 16);
  if (token === String.raw`\0`) return 0;
  return /^\\c[a-z]$/i.test(token) ? (token.codePointAt(2) ?? 0) % 32 : undefined;
}

const CATEGORIES: Readonly<Record<string, string>> = {
  Letter: 'L',
  Lowercase_Letter: 'Ll',
  Uppercase_Letter: 'Lu',
  Mark: 'M',
  Number: 'N',
  Decimal_Number: 'Nd',
  Punctuation: 'P',
  Symbol: 'S',
  Separator: 'Z',
  Other: 'C',
};

function property(kind: string, name: string): string {
  const value = name.replace(/^(?:General_Category|gc|Script|sc|Script_Extensions|scx)=/, '');
  return `\\${kind}{${readOwn(CATEGORIES, value) ?? value}}`;
}

/** The index at which the group at the start of the text ends. */
function endOfGroup(text: string): number {
  let depth = 0;
  for (const [i, character] of structure(text)) {
    if (character === '(') depth += 1;
    if (character === ')' && (depth -= 1) === 0) return i;
  }
  throw new SyntaxError('"(" has no ")"');
}

function hasAlternatives(text: string): boolean {
  let depth = 0;
  for (const [, character] of structure(text)) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === '|' && depth === 0) return true;
  }
  return false;
}

/** The characters with a syntactic meaning: not escaped and not in a class. */
function* structure(text: string): Generator<readonly [index: number, character: string]> {
  let inClass = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i] ?? '';
    if (character === '\\') i += 1;
    else if (character === '[') inClass = true;
    else if (character === ']') inClass = false;
    else if (!inClass) yield [i, character];
  }
}
