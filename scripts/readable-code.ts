/**
 * Makes stack traces of minified code readable: each statement begins a line, and private members have their names back,
 * which the minifier shortens without an option.
 */
import { decode, encode, type SourceMapMappings } from '@jridgewell/sourcemap-codec';
import { parseSync, type Node } from 'oxc-parser';
import { listChildren } from './syntax-tree.ts';

/** What is used of a source map. */
export interface CodeMap {
  readonly mappings: string;
  readonly names: readonly string[];
  readonly sourcesContent: readonly string[];
}

/** Replaces `length` characters. */
interface Edit {
  readonly at: number;
  readonly length: number;
  readonly text: string;
}

/**
 * Returns the code, and the `mappings` of its source map.
 *
 * @throws Error if the map does not lead to a private member.
 */
export function makeReadable(
  file: string,
  code: string,
  map: CodeMap,
): { readonly code: string; readonly mappings: string } {
  const { program, errors } = parseSync(file, code);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const mappings = decode(map.mappings);
  const lineStarts = listLineStarts(code);
  const breaks = listStatementStarts(program)
    .filter((at) => at > 0 && code[at - 1] !== '\n')
    .map((at): Edit => ({ at, length: 0, text: '\n' }));
  const privateNames = listPrivateNames(program);
  const positions = new Set(privateNames.map(({ start }) => start));
  const originals = findOriginals(positions, lineStarts, mappings, map);
  const names = privateNames.map(({ start, end }): Edit => {
    const text = originals.get(start);
    if (text === undefined) throw new Error(`${file}: ${code.slice(start, end)} has no original`);
    return { at: start, length: end - start, text };
  });
  const edits = [...breaks, ...names].toSorted(
    (one, other) => one.at - other.at || one.length - other.length,
  );
  const edited = applyEdits(code, edits);
  return { code: edited, mappings: encode(moveMappings(mappings, lineStarts, edited, edits)) };
}

/** Where the statements of the program, of blocks and of cases begin, and the members of classes. */
function listStatementStarts(node: Node): readonly number[] {
  const list = node.type === 'SwitchCase' ? node.consequent : 'body' in node ? node.body : [];
  const own = Array.isArray(list) ? list.map(({ start }) => start) : [];
  return [...own, ...listChildren(node).flatMap(listStatementStarts)];
}

function listPrivateNames(node: Node): readonly Node[] {
  if (node.type === 'PrivateIdentifier') return [node];
  return listChildren(node).flatMap(listPrivateNames);
}

/** The private names of the sources, by their positions in the code. */
function findOriginals(
  positions: ReadonlySet<number>,
  lineStarts: readonly number[],
  mappings: SourceMapMappings,
  { names, sourcesContent }: CodeMap,
): ReadonlyMap<number, string> {
  const sources = sourcesContent.map((text) => text.split('\n'));
  const originals = new Map<number, string>();
  for (const [line, segments] of mappings.entries())
    for (const segment of segments) {
      if (segment.length === 1) continue;
      const [column, source, originalLine, originalColumn, name] = segment;
      const position = (lineStarts[line] ?? 0) + column;
      if (!positions.has(position)) continue;
      // A definition has no name in the map, and begins with its modifiers.
      const text = sources[source]?.[originalLine]?.slice(originalColumn) ?? '';
      const listed = name === undefined ? undefined : names[name];
      const original = listed?.startsWith('#') ? listed : /^[\w ]*(#[\w$]+)/.exec(text)?.[1];
      if (original !== undefined) originals.set(position, original);
    }
  return originals;
}

function applyEdits(code: string, edits: readonly Edit[]): string {
  let [result, end] = ['', 0];
  for (const { at, length, text } of edits) {
    result += code.slice(end, at) + text;
    end = at + length;
  }
  return result + code.slice(end);
}

/** The mappings from the edited code. */
function moveMappings(
  mappings: SourceMapMappings,
  lineStarts: readonly number[],
  edited: string,
  edits: readonly Edit[],
): SourceMapMappings {
  const editedStarts = listLineStarts(edited);
  const moved: SourceMapMappings = editedStarts.map(() => []);
  let [line, next, shift] = [0, 0, 0];
  for (const [from, segments] of mappings.entries())
    for (const [column, ...original] of segments) {
      const offset = (lineStarts[from] ?? 0) + column;
      for (let edit = edits[next]; edit !== undefined; edit = edits[next]) {
        if (edit.at + edit.length > offset) break;
        shift += edit.text.length - edit.length;
        next += 1;
      }
      while ((editedStarts[line + 1] ?? Infinity) <= offset + shift) line += 1;
      moved[line]?.push([offset + shift - (editedStarts[line] ?? 0), ...original]);
    }
  return moved;
}

function listLineStarts(code: string): readonly number[] {
  return [0, ...[...code.matchAll(/\n/g)].map(({ index }) => index + 1)];
}
