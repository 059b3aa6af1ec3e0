/** Lets each statement of minified code begin a line, so that a line of a stack trace is a statement. */
import { decode, encode, type SourceMapMappings } from '@jridgewell/sourcemap-codec';
import { parseSync, type Node } from 'oxc-parser';
import { listChildren } from './syntax-tree.ts';

/** JavaScript, and the `mappings` of its source map. */
interface MappedCode {
  readonly code: string;
  readonly mappings: string;
}

export function breakStatementLines(file: string, { code, mappings }: MappedCode): MappedCode {
  const { program, errors } = parseSync(file, code);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const lineStarts = [0, ...[...code.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const starts = [...new Set([...lineStarts, ...listStatementStarts(program)])].toSorted(
    (one, other) => one - other,
  );
  const lines = starts.map((start, index) =>
    code.slice(start, starts[index + 1]).replace(/\n$/, ''),
  );
  return {
    code: lines.join('\n'),
    mappings: encode(moveMappings(decode(mappings), lineStarts, starts)),
  };
}

/** Where the statements of the program, of blocks and of cases begin, and the members of classes. */
function listStatementStarts(node: Node): readonly number[] {
  const list = node.type === 'SwitchCase' ? node.consequent : 'body' in node ? node.body : [];
  const own = Array.isArray(list) ? list.map(({ start }) => start) : [];
  return [...own, ...listChildren(node).flatMap(listStatementStarts)];
}

function moveMappings(
  mappings: SourceMapMappings,
  lineStarts: readonly number[],
  starts: readonly number[],
): SourceMapMappings {
  const moved: SourceMapMappings = starts.map(() => []);
  let line = 0;
  for (const [from, segments] of mappings.entries())
    for (const [column, ...original] of segments) {
      const offset = (lineStarts[from] ?? 0) + column;
      while ((starts[line + 1] ?? Infinity) <= offset) line += 1;
      moved[line]?.push([offset - (starts[line] ?? 0), ...original]);
    }
  return moved;
}
