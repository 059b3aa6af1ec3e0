import { InvalidInputError } from '../../../core/index.ts';
import { linePattern, type LinePattern } from './line-pattern.ts';

/**
 * Matches paths with `/` between their parts. `*` and `?` stay inside a part, `**` as a whole part stands for any number
 * of parts, `{a,b}` for either, `[a-z]` and `[!a-z]` for one character. A pattern without `/` matches the last part
 * wherever it is. Names that begin with a point are names like any other.
 * @throws InvalidInputError
 */
export function globPattern(glob: string): LinePattern {
  if (glob === '') throw new InvalidInputError('pattern', 'is empty.');
  const anywhere = glob.includes('/') ? glob : `**/${glob}`;
  return linePattern(`^${toExpression(anywhere)}$`);
}

// One piece of a glob at a time, and what it is as a regular expression.
const PIECES = /\*\*\/|\/\*\*$|\*+|\?|\[(?<not>!?)(?<set>[^\]/]+)\]|\{|\}|,|[^*?[\]{},/]+|./gsu;

function toExpression(glob: string): string {
  let open = 0;
  const pieces = [...glob.matchAll(PIECES)].map(({ 0: piece, groups = {}, index }) => {
    if (piece === '**/' && (index === 0 || glob[index - 1] === '/')) return '(?:[^/]+/)*';
    if (piece === '/**') return '/.+';
    if (piece === '**/') return '[^/]*/';
    if (piece.startsWith('*')) return piece === glob && piece === '**' ? '.+' : '[^/]*';
    if (piece === '?') return '[^/]';
    if (groups['set'] !== undefined) {
      return `[${groups['not'] === '' ? '' : '^'}${groups['set'].replaceAll(/[\\^[\]&]/g, String.raw`\$&`)}]`;
    }
    if (piece === '{') return ((open += 1), '(?:');
    if (piece === '}' && open > 0) return ((open -= 1), ')');
    if (piece === ',' && open > 0) return '|';
    return piece.replaceAll(/[\\^$.|?*+()[\]{}]/g, String.raw`\$&`);
  });
  if (open > 0) throw new InvalidInputError('pattern', 'has a "{" without its "}".');
  return pieces.join('');
}
