/**
 * Reads every error code of the package from its source: the classes that extend `PetrichorError`,
 * and the codes without a class. The doc comment of each has its cause, and after `@remedy` what to
 * do. A code without a class is a string literal: a member of a union, a constant, or the value of
 * `code` or `error_code` in an object.
 */
import { globSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };
import { walkNodes } from '../test/architecture/module-facts.ts';
import { isNode, type Node } from '../test/architecture/syntax-node.ts';
import {
  listExports,
  parseModule,
  readModuleNames,
  resolveName,
  type Declared,
} from './module-exports.ts';

/** The two halves of the doc comment of a code. */
export interface CodeComment {
  readonly cause: string;
  readonly remedy: string | undefined;
}

/** One code, as one class or one literal has it. */
export interface ErrorCode extends CodeComment {
  readonly code: string;
  /** The file, from the folder of the repository. */
  readonly file: string;
  /** Undefined for a code without a class. */
  readonly className: string | undefined;
  /** The subpaths that export the class, such as `petrichor/store`. */
  readonly importPaths: readonly string[];
  /** True if the class has the code of the class that it extends. */
  readonly inherited: boolean;
  /** Undefined if the class does not know it. */
  readonly retryable: boolean | undefined;
  /** The type, constant or member name that a literal belongs to: `HttpErrorType`, `error_code`. */
  readonly owner: string | undefined;
}

const root = resolve(import.meta.dirname, '..');
const base = join(root, 'src/core/errors/petrichor-error.ts');

/** Every module of the package, without tests and contract suites. */
export const sourceFiles: readonly string[] = globSync('src/**/*.ts', {
  cwd: root,
  exclude: (path) => path.endsWith('.test.ts') || path.endsWith('/contract'),
})
  .toSorted()
  .map((path) => join(root, path));

/** All codes: those of classes, then those without a class. */
export function listErrorCodes(): readonly ErrorCode[] {
  const importPaths = findImportPaths();
  const errorClasses = sourceFiles.flatMap((file) =>
    [...readModuleNames(file).own].flatMap(([name, [declared]]) => {
      const node = declared && findClass(declared);
      return node && extendsBase(file, name) ? [{ file, name, node, declared }] : [];
    }),
  );
  const ofClasses = new Set(
    errorClasses.flatMap(({ file, node }) =>
      readCodes(file, node).map((one) => `${relative(root, one.file)}#${one.literal}`),
    ),
  );
  return [
    ...errorClasses.flatMap(({ file, name, node, declared }) =>
      listClassCodes(file, name, node, declared, importPaths.get(`${file}#${name}`) ?? []),
    ),
    ...sourceFiles
      .flatMap(listLiterals)
      .filter(({ file, code }) => !ofClasses.has(`${file}#${code}`)),
  ];
}

/** The values of `code` and `error_code` in objects, with the file. Each of them needs a comment somewhere. */
export function listCodesInObjects(): readonly { readonly file: string; readonly code: string }[] {
  return sourceFiles.flatMap((file) =>
    walkNodes(parseModule(file).program).flatMap((node) => {
      const name = node.type === 'Property' && isNode(node['key']) ? node['key']['name'] : '';
      const { value } = node;
      if ((name !== 'code' && name !== 'error_code') || !isNode(value)) return [];
      const code = value['value'];
      return typeof code === 'string' ? [{ file: relative(root, file), code }] : [];
    }),
  );
}

/** Splits a doc comment at its `@remedy` tag. Other tags are left out. */
export function parseCodeComment(comment: string | undefined): CodeComment {
  const lines = (comment ?? '').replace(/^\/\*\*|\*\/$/g, '').split('\n');
  const text = lines.map((line) => line.replace(/^\s*\*\s?/, '')).join('\n');
  const [summary = '', ...tags] = text.split(/^\s*(?=@[a-z])/m);
  const remedy = tags.find((tag) => tag.startsWith('@remedy'));
  return { cause: oneLine(summary), remedy: remedy && oneLine(remedy.slice('@remedy'.length)) };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function findImportPaths(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const [subpath, to] of Object.entries(packageJson.exports)) {
    if (typeof to === 'string') continue;
    const entry = to.default.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1.ts');
    for (const { file, declaredName } of listExports(join(root, entry))) {
      const key = `${file}#${declaredName}`;
      found.set(key, [...(found.get(key) ?? []), join(packageJson.name, subpath)]);
    }
  }
  return found;
}

function findClass({ node }: Declared): Node | undefined {
  const declaration: unknown = 'declaration' in node ? node.declaration : node;
  return isNode(declaration) && declaration.type === 'ClassDeclaration' ? declaration : undefined;
}

/** The file and the name of the class that a class extends, if that is a class of the package. */
function findParent(file: string, node: Node): ReturnType<typeof resolveName> | undefined {
  const name = isNode(node['superClass']) ? node['superClass']['name'] : undefined;
  const { own, imported } = readModuleNames(file);
  if (typeof name !== 'string' || !(own.has(name) || imported.has(name))) return undefined;
  return resolveName(file, name);
}

function extendsBase(file: string, name: string): boolean {
  const node = findClassNamed(file, name);
  const parent = node && findParent(file, node);
  if (parent === undefined) return false;
  return parent.file === base || extendsBase(parent.file, parent.declaredName);
}

function findClassNamed(file: string, name: string): Node | undefined {
  const [declared] = readModuleNames(file).own.get(name) ?? [];
  return declared && findClass(declared);
}

function listClassCodes(
  file: string,
  className: string,
  node: Node,
  { comment }: Declared,
  importPaths: readonly string[],
): readonly ErrorCode[] {
  const own = readCodes(file, node);
  const inherited = own.length === 0;
  const retryable = findMember(node, 'retryable');
  const facts = {
    file: relative(root, file),
    className,
    importPaths,
    inherited,
    retryable: retryable && readBoolean(retryable['value']),
    owner: undefined,
  };
  if (own.length === 1 || inherited) {
    const [code] = inherited ? readInheritedCodes(file, node) : own;
    return code === undefined ? [] : [{ ...facts, ...parseCodeComment(comment), code: code.code }];
  }
  return own.map(({ code, literal, file: declaredIn }) => ({
    ...facts,
    ...findLiteralComment(declaredIn, literal),
    code,
  }));
}

interface LiteralCode {
  readonly code: string;
  /** The literal in the source: `rate_limit` of `model_rate_limit`. */
  readonly literal: string;
  readonly file: string;
}

/** The codes of a class: of its member `code`, or of the default for it in its constructor. */
function readCodes(file: string, node: Node): readonly LiteralCode[] {
  const member = findMember(node, 'code');
  if (member === undefined) return [];
  const codes = listStrings(file, member['value'] ?? member['typeAnnotation']);
  return codes.length > 0 ? codes : readDefaults(file, node);
}

function readInheritedCodes(file: string, node: Node): readonly LiteralCode[] {
  const parent = findParent(file, node);
  const parentNode = parent && findClassNamed(parent.file, parent.declaredName);
  if (parent === undefined || parentNode === undefined) return [];
  const codes = readCodes(parent.file, parentNode);
  if (codes.length < 2) {
    return codes.length > 0 ? codes : readInheritedCodes(parent.file, parentNode);
  }
  // The constructor selects one of the codes of the parent: `kind: 'unsupported'`.
  const text = JSON.stringify(node);
  return codes.filter(({ literal }) => text.includes(`"value":${JSON.stringify(literal)}`));
}

function findMember(node: Node, name: string): Node | undefined {
  const body = isNode(node['body']) ? node['body']['body'] : undefined;
  const members: readonly unknown[] = Array.isArray(body) ? body : [];
  return members
    .filter(isNode)
    .find(({ type, key }) => type === 'PropertyDefinition' && isNode(key) && key['name'] === name);
}

/** `{ code = 'tool_failed' }` among the parameters of the constructor. */
function readDefaults(file: string, node: Node): readonly LiteralCode[] {
  return walkNodes(node).flatMap(({ type, left, right }) =>
    type === 'AssignmentPattern' && isNode(left) && left['name'] === 'code'
      ? listStrings(file, right)
      : [],
  );
}

/** The string literals of an expression or a type, with those of the names in it. */
function listStrings(file: string, node: unknown): readonly LiteralCode[] {
  const nodes = walkNodes(node);
  const template = nodes.find(({ type }) => type === 'TSTemplateLiteralType');
  const [first]: readonly unknown[] = Array.isArray(template?.['quasis']) ? template['quasis'] : [];
  const value = isNode(first) ? first['value'] : undefined;
  const prefix =
    typeof value === 'object' && value !== null && 'raw' in value ? String(value.raw) : '';
  const found = nodes.flatMap((one): readonly LiteralCode[] => {
    if (one.type === 'Literal' && typeof one['value'] === 'string')
      return [{ code: one['value'], literal: one['value'], file }];
    const { own, imported } = readModuleNames(file);
    const { name } = one;
    if (one.type !== 'Identifier' || typeof name !== 'string') return [];
    if (!own.has(name) && !imported.has(name)) return [];
    const declared = resolveName(file, name);
    return declared.declarations.flatMap((each) => listStrings(declared.file, initializer(each)));
  });
  return found.map((one) => ({ ...one, code: `${prefix}${one.code}` }));
}

/** What a constant or a type alias stands for. */
function initializer({ node }: Declared): unknown {
  const declaration: unknown = 'declaration' in node ? node.declaration : node;
  if (!isNode(declaration)) return undefined;
  const { declarations, typeAnnotation } = declaration;
  const [declarator]: readonly unknown[] = Array.isArray(declarations) ? declarations : [];
  return isNode(declarator) ? declarator['init'] : typeAnnotation;
}

function readBoolean(value: unknown): boolean | undefined {
  const literal = walkNodes(value).find(({ type }) => type === 'Literal');
  return typeof literal?.['value'] === 'boolean' ? literal['value'] : undefined;
}

const beforeLiteral =
  /^[\s|]*(?:(?:export )?const (?<constant>\w+)[^=\n]* = |(?<member>code|error_code): )?'(?<code>[^']*)'/;

/** The literals of a file whose doc comment has a remedy. */
function listLiterals(file: string): readonly ErrorCode[] {
  const { text, comments } = parseModule(file);
  const { own } = readModuleNames(file);
  return comments.flatMap(({ start, end }): readonly ErrorCode[] => {
    const comment = text.slice(start, end);
    if (!/^\s*(?:\/\*)?\*+ @remedy\b/m.test(comment)) return [];
    const match = beforeLiteral.exec(text.slice(end))?.groups;
    if (match?.['code'] === undefined) return [];
    const [around] = [...own].flatMap(([name, declarations]) =>
      declarations.some(({ node }) => node.start < start && end < node.end) ? [name] : [],
    );
    return [
      {
        ...parseCodeComment(comment),
        code: match['code'],
        file: relative(root, file),
        className: undefined,
        importPaths: [],
        inherited: false,
        retryable: undefined,
        owner: match['member'] ?? match['constant'] ?? around,
      },
    ];
  });
}

function findLiteralComment(file: string, literal: string): CodeComment {
  const { cause = '', remedy } = listLiterals(file).find(({ code }) => code === literal) ?? {};
  return { cause, remedy };
}
