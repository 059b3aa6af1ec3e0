/** Finds the declarations that the entries of the package refer to, directly or not, and removes the others. */
import { dirname, join } from 'node:path';
import { parseSync, type Node } from 'oxc-parser';
import { isNode, listChildren } from './syntax-tree.ts';

/** A name that a file declares or exports. `*` is all that it exports. */
interface Reference {
  readonly file: string;
  readonly name: string;
}

/** A name in the list of an import or export statement. */
interface ListedName {
  /** The name in this file, or under which this file exports it. */
  readonly name: string;
  /** The text in the list, such as `type Content as Contents`. */
  readonly text: string;
  /** What it stands for. Absent for a name of a package. */
  readonly target: Reference | undefined;
}

/** A statement of a file of declarations, with the comment before it. */
interface Statement {
  readonly start: number;
  readonly end: number;
  readonly exports: boolean;
  /** The names that it declares. A statement without a name, such as `export {};`, stays if its file does. */
  readonly declares: readonly string[];
  /** The names of an import or export that is nothing but a list. */
  readonly list: readonly ListedName[];
  readonly references: readonly Reference[];
  /** The path that `export * from` passes on. */
  readonly all: string | undefined;
}

/** A file of declarations, and what of it is used: the texts of a list, or a whole statement. */
interface DeclarationFile {
  readonly text: string;
  readonly statements: readonly Statement[];
  readonly used: Map<Statement, Set<string>>;
}

/**
 * Returns the files of declarations that the entries refer to, each without what they do not refer to.
 *
 * @param read Returns the text of a file of declarations.
 */
export function keepUsedDeclarations(
  entries: readonly string[],
  read: (path: string) => string,
): ReadonlyMap<string, string> {
  const files = new Map<string, DeclarationFile>();
  const seen = new Set<string>();
  const open: Reference[] = entries.map((file) => ({ file, name: '*' }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const key = `${next.file} ${next.name}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const file = files.get(next.file) ?? parseDeclarations(next.file, read(next.file));
    files.set(next.file, file);
    open.push(...markUsed(file, next.name));
  }
  return new Map([...files].map(([path, file]) => [path, printUsed(file)]));
}

/** Marks what declares the name in the file, and returns what this refers to. */
function markUsed({ statements, used }: DeclarationFile, name: string): readonly Reference[] {
  return statements.flatMap((statement) => {
    const { exports, declares, list, references, all } = statement;
    const whole = name === '*' && exports;
    const listed = list.filter((one) => whole || one.name === name);
    const declared = whole || declares.includes(name) || declares.length === 0;
    if (list.length > 0 ? listed.length === 0 : !declared) return [];
    const texts = used.get(statement) ?? new Set();
    for (const { text } of listed) texts.add(text);
    used.set(statement, texts);
    return [
      ...references,
      ...(all === undefined ? [] : [{ file: all, name }]),
      ...listed.flatMap(({ target }) => target ?? []),
    ];
  });
}

function printUsed({ text, statements, used }: DeclarationFile): string {
  const kept = statements.flatMap((statement) => {
    const names = used.get(statement);
    if (names === undefined) return [];
    const whole = text.slice(statement.start, statement.end).trim();
    return [names.size === 0 ? whole : whole.replace(/\{[^]*\}/, `{ ${[...names].join(', ')} }`)];
  });
  return `${kept.join('\n')}\n`;
}

function parseDeclarations(path: string, text: string): DeclarationFile {
  const { program, errors } = parseSync(path, text, { lang: 'dts', sourceType: 'module' });
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  let end = 0;
  const statements = program.body.map((node) => {
    // An import and a list have no comment that an editor shows.
    const documented = node.type !== 'ImportDeclaration' && !('specifiers' in node && node.source);
    const start = documented ? end : node.start;
    end = node.end;
    return {
      start,
      end,
      exports: node.type.startsWith('Export'),
      ...describeStatement(path, text, node),
    };
  });
  return { text, statements, used: new Map() };
}

function describeStatement(
  path: string,
  text: string,
  node: Node,
): Omit<Statement, 'start' | 'end' | 'exports'> {
  const nothing = { declares: [], list: [], references: [], all: undefined };
  const source = 'source' in node && isNode(node.source) ? findFile(path, node.source) : undefined;
  if (node.type === 'ExportAllDeclaration')
    return node.exported === null
      ? { ...nothing, all: source }
      : { ...nothing, declares: [nameText(text, node.exported)], references: toAll(source) };
  if (node.type === 'ImportDeclaration') {
    if (node.specifiers.some(({ type }) => type !== 'ImportSpecifier'))
      return {
        ...nothing,
        declares: node.specifiers.map(({ local }) => local.name),
        references: toAll(source),
      };
    const list = node.specifiers.flatMap((one) =>
      one.type === 'ImportSpecifier'
        ? [toListedName(text, one, one.local, one.imported, source)]
        : [],
    );
    return { ...nothing, list, references: list.length === 0 ? toAll(source) : [] };
  }
  if (node.type === 'ExportNamedDeclaration' && node.declaration === null) {
    const from = node.source === null ? path : source;
    return {
      ...nothing,
      list: node.specifiers.map((one) => toListedName(text, one, one.exported, one.local, from)),
    };
  }
  const declares =
    node.type === 'ExportDefaultDeclaration' ? ['default'] : listDeclaredNames(text, node);
  return { ...nothing, declares, references: listReferences(path, text, node) };
}

function toListedName(
  text: string,
  specifier: Node,
  name: Node,
  original: Node,
  file: string | undefined,
): ListedName {
  const target = file === undefined ? undefined : { file, name: nameText(text, original) };
  const listed = text.slice(specifier.start, specifier.end);
  return { name: nameText(text, name), text: listed, target };
}

const toAll = (file: string | undefined): readonly Reference[] =>
  file === undefined ? [] : [{ file, name: '*' }];

function nameText(text: string, node: Node): string {
  return 'name' in node && typeof node.name === 'string'
    ? node.name
    : text.slice(node.start, node.end);
}

/** The path of a module of this package. */
function findFile(path: string, source: Node): string | undefined {
  const specifier = 'value' in source ? source.value : undefined;
  if (typeof specifier !== 'string' || !specifier.startsWith('.')) return undefined;
  return join(dirname(path), specifier.replace(/\.(?:ts|js)$/, '.d.ts'));
}

/** The names of a declaration, which may be exported. */
function listDeclaredNames(text: string, node: Node): readonly string[] {
  if (node.type === 'ExportNamedDeclaration')
    return node.declaration === null ? [] : listDeclaredNames(text, node.declaration);
  if (node.type === 'VariableDeclaration')
    return node.declarations.map(({ id }) => nameText(text, id));
  return 'id' in node && isNode(node.id) ? [nameText(text, node.id)] : [];
}

/** The names in a declaration, as names of its file, and what its `import('./x.ts')` refer to. */
function listReferences(path: string, text: string, node: Node): readonly Reference[] {
  const nested = listChildren(node).flatMap((child) => listReferences(path, text, child));
  // A parameter has its type inside.
  if (node.type === 'Identifier') return [{ file: path, name: node.name }, ...nested];
  if (node.type !== 'TSImportType') return nested;
  const file = findFile(path, node.source);
  if (file === undefined) return nested;
  const [name = '*'] =
    node.qualifier === null ? [] : text.slice(node.qualifier.start, node.qualifier.end).split('.');
  return [{ file, name }, ...nested];
}
