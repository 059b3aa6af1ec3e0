/** Reads the exports of modules and follows them to their declarations, in `.ts` and `.d.ts` files. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { isNode } from '../test/architecture/syntax-node.ts';

type ParseResult = ReturnType<typeof parseSync>;
type Statement = ParseResult['program']['body'][number];

/** The source of one module, parsed. */
export interface ParsedModule {
  readonly text: string;
  readonly program: ParseResult['program'];
  readonly comments: ParseResult['comments'];
}

/** One declaration at the top level of a module. */
export interface Declared {
  readonly node: Statement;
  /** The doc comment, with its delimiters. */
  readonly comment: string | undefined;
  /** The source without comments. */
  readonly text: string;
}

/** A name of a module, and the declarations that give it its meaning. */
export interface ResolvedName {
  readonly name: string;
  /** The file that declares it. */
  readonly file: string;
  /** The name in that file. */
  readonly declaredName: string;
  /** Overloads are several declarations. */
  readonly declarations: readonly Declared[];
}

/** A name of another module. */
interface ForeignName {
  readonly file: string;
  readonly name: string;
}

/** The top level of one module. */
export interface ModuleNames {
  /** The names declared here, exported or not. */
  readonly own: ReadonlyMap<string, readonly Declared[]>;
  readonly imported: ReadonlyMap<string, ForeignName>;
  /** The exported names. The value is undefined for a name declared here. */
  readonly exported: ReadonlyMap<string, ForeignName | undefined>;
}

const parsed = new Map<string, ParsedModule>();
const modules = new Map<string, ModuleNames>();

export function parseModule(file: string): ParsedModule {
  const known = parsed.get(file);
  if (known) return known;
  const text = readFileSync(file, 'utf8');
  const { program, comments } = parseSync(file, text);
  const module = { text, program, comments };
  parsed.set(file, module);
  return module;
}

/** Reads the top level of a module. `export *` is not supported: the package does not use it. */
export function readModuleNames(file: string): ModuleNames {
  const known = modules.get(file);
  if (known) return known;
  const { text, program, comments } = parseModule(file);
  const own = new Map<string, Declared[]>();
  const imported = new Map<string, ForeignName>();
  const exported = new Map<string, ForeignName | undefined>();
  const isDeclarationFile = file.endsWith('.d.ts');
  const resolve = (specifier: string): string =>
    join(dirname(file), isDeclarationFile ? specifier.replace(/\.(?:ts|js)$/, '.d.ts') : specifier);
  const toDeclared = (node: Statement): Declared => {
    const before = text.slice(0, node.start).trimEnd().length;
    const doc = comments.find(
      ({ end, type, value }) => end === before && type === 'Block' && value.startsWith('*'),
    );
    return {
      node,
      comment: doc && text.slice(doc.start, doc.end),
      text: sliceWithoutComments(text, comments, node),
    };
  };

  for (const node of program.body) {
    if (node.type === 'ImportDeclaration' && node.source.value.startsWith('.')) {
      for (const one of node.specifiers) {
        if (one.type !== 'ImportSpecifier' || one.imported.type !== 'Identifier') continue;
        imported.set(one.local.name, { file: resolve(node.source.value), name: one.imported.name });
      }
    }
    const isExport = node.type === 'ExportNamedDeclaration';
    if (isExport) {
      for (const { local, exported: as } of node.specifiers) {
        if (local.type !== 'Identifier' || as.type !== 'Identifier') continue;
        const from =
          node.source === null
            ? imported.get(local.name)
            : { file: resolve(node.source.value), name: local.name };
        if (from !== undefined) exported.set(as.name, from);
      }
    }
    for (const name of declaredNames(isExport ? node.declaration : node)) {
      own.set(name, [...(own.get(name) ?? []), toDeclared(node)]);
      if (isExport) exported.set(name, undefined);
    }
  }
  const names = { own, imported, exported };
  modules.set(file, names);
  return names;
}

/** Follows a name that a file declares, imports or exports to its declaration. @throws Error if there is none */
export function resolveName(file: string, name: string): ResolvedName {
  const { own, imported, exported } = readModuleNames(file);
  const from = exported.get(name) ?? (own.has(name) ? undefined : imported.get(name));
  if (from) return { ...resolveName(from.file, from.name), name };
  const declarations = own.get(name);
  if (!declarations) throw new Error(`${file} has no declaration of ${name}`);
  return { name, file, declaredName: name, declarations };
}

/** Everything that a module exports, by name. */
export function listExports(file: string): readonly ResolvedName[] {
  return [...readModuleNames(file).exported.keys()]
    .toSorted()
    .map((name) => resolveName(file, name));
}

function declaredNames(declaration: unknown): readonly string[] {
  if (!isNode(declaration)) return [];
  const { declarations } = declaration;
  const declarators: readonly unknown[] = Array.isArray(declarations)
    ? declarations
    : [declaration];
  return declarators.flatMap((one) => {
    const id = isNode(one) ? one['id'] : undefined;
    return isNode(id) && typeof id['name'] === 'string' ? [id['name']] : [];
  });
}

function sliceWithoutComments(
  text: string,
  comments: readonly { readonly start: number; readonly end: number }[],
  { start, end }: Statement,
): string {
  let source = text.slice(start, end);
  for (const comment of comments.toReversed()) {
    if (comment.start < start || comment.end > end) continue;
    source = source.slice(0, comment.start - start) + source.slice(comment.end - start);
  }
  return (
    source
      .replaceAll(/^[ \t]*\n/gm, '')
      // The literals of a union have lines of their own only because of their comments.
      .replaceAll(/ =\s*\n(?=')/g, ' = ')
      .replaceAll(/(?<=')\s*\n\s*\| (?=')/g, ' | ')
      .trim()
  );
}
