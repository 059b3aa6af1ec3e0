import { InvalidInputError } from '../../../core/index.ts';
import { linePattern, type LinePattern } from './line-pattern.ts';

/**
 * Compiles a glob for paths with `/` as separator. `*` and `?` match inside one segment, `**` as a
 * whole segment matches any number of segments, `{a,b}` alternatives, `[a-z]` and `[!a-z]` one
 * character. A pattern without `/` matches the last segment at any depth. Names with a leading dot
 * are not special.
 * @throws InvalidInputError if the pattern is empty or has an unclosed `{`
 */
export function globPattern(glob: string): LinePattern {
  if (glob === '') throw new InvalidInputError('pattern', 'is empty.');
  const anywhere = glob.includes('/') ? glob : `**/${glob}`;
  return linePattern(`^${toExpression(anywhere)}$`);
}

// Matches one piece of a glob at a time.
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
