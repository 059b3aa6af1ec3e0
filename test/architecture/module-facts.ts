import { parseSync } from 'oxc-parser';
import { listDeclarations, type Declaration } from './declarations.ts';
import { isNode, type Node } from './syntax-node.ts';

/** One file of a tree, by its path from the root with `/` between folders. */
export interface TreeFile {
  readonly path: string;
  readonly text: string;
}

/**
 * An import of another module. `target` is the file of the tree that it names, if it is relative.
 */
export interface ModuleImport {
  readonly specifier: string;
  readonly target: string | undefined;
  /** Erased at run time: `import type`, or a type written as `import('…')`. */
  readonly typeOnly: boolean;
  /** Loaded on demand: `import('…')`. */
  readonly lazy: boolean;
}

/** The facts of a module that the rules need. */
export interface ModuleFacts {
  readonly path: string;
  readonly imports: readonly ModuleImport[];
  readonly exportsStar: boolean;
  /** Free names that the module mentions (`process` in `process.env`, not in `order.process`). */
  readonly names: ReadonlySet<string>;
  /** Free names that the module calls, with or without `new`. */
  readonly calls: ReadonlySet<string>;
  /** Names of bindings at module level that can change: `let`, `var`, or an empty collection. */
  readonly mutableState: readonly string[];
  readonly comments: readonly string[];
  readonly declarations: readonly Declaration[];
}

/** Reads the facts of one module. @throws Error when the file does not parse. */
export function readModule(file: TreeFile): ModuleFacts {
  const { program, comments, errors } = parseSync(file.path, file.text);
  if (errors[0]) throw new Error(`${file.path} does not parse: ${errors[0].message}`);

  const imports: ModuleImport[] = [];
  const names = new Set<string>();
  const calls = new Set<string>();
  let exportsStar = false;

  for (const node of walkNodes(program)) {
    if (node.type === 'Identifier' && typeof node['name'] === 'string') names.add(node['name']);
    if (node.type === 'ExportAllDeclaration') exportsStar = true;
    const name = globalMember(node);
    if (name) names.add(name);
    if (node.type === 'CallExpression' || node.type === 'NewExpression') {
      const called = calledName(node['callee']);
      if (called) calls.add(called);
    }
    const specifier = getSpecifier(node);
    if (specifier === undefined) continue;
    imports.push({
      specifier,
      target: relativeTarget(file.path, specifier),
      typeOnly: isTypeOnly(node),
      lazy: node.type === 'ImportExpression',
    });
  }

  return {
    path: file.path,
    imports,
    exportsStar,
    names,
    calls,
    mutableState: findMutableState(program.body),
    comments: comments.map((comment) => comment.value),
    declarations: listDeclarations(program),
  };
}

function calledName(callee: unknown): string | undefined {
  if (!isNode(callee)) return undefined;
  return callee.type === 'Identifier' ? String(callee['name']) : globalMember(callee);
}

/** A node and all nodes in it, without the names of members. It is no generator, which would take several times as long. */
export function walkNodes(value: unknown): readonly Node[] {
  const found: Node[] = [];
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    if (Array.isArray(part)) {
      for (const item of part) visit(item);
      return;
    }
    if (!isNode(part)) return;
    found.push(part);
    for (const key in part) if (!isOwnName(part, key)) visit(part[key]);
  };
  visit(value);
  return found;
}

/** `b` in `a.b` and in `{ b: 1 }` is a name inside a thing, not a thing in scope. */
function isOwnName(parent: Node, key: string): boolean {
  if (parent['computed'] === true) return false;
  if (parent.type === 'MemberExpression') return key === 'property';
  if (parent.type === 'TSQualifiedName') return key === 'right';
  return key === 'key' && parent['shorthand'] !== true;
}

/** `process` in `globalThis.process`. */
function globalMember(node: Node): string | undefined {
  if (node.type !== 'MemberExpression') return undefined;
  const { object, property } = node;
  if (!isNode(object) || object['name'] !== 'globalThis' || !isNode(property)) return undefined;
  const name = property['name'] ?? property['value'];
  return typeof name === 'string' ? name : undefined;
}

const importing: ReadonlySet<string> = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
]);

function getSpecifier(node: Node): string | undefined {
  if (!importing.has(node.type) || !isNode(node['source'])) return undefined;
  const value = node['source']['value'];
  return typeof value === 'string' ? value : undefined;
}

function isTypeOnly(node: Node): boolean {
  if (node.type === 'TSImportType') return true;
  if (node['importKind'] === 'type' || node['exportKind'] === 'type') return true;
  const specifiers = node['specifiers'];
  if (!Array.isArray(specifiers) || specifiers.length === 0) return false;
  return specifiers.every(
    (one: unknown) => isNode(one) && (one['importKind'] === 'type' || one['exportKind'] === 'type'),
  );
}

function relativeTarget(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  const path = from.split('/').slice(0, -1);
  for (const part of specifier.split('/')) {
    if (part === '..') path.pop();
    else if (part !== '.') path.push(part);
  }
  return path.join('/');
}

function findMutableState(body: readonly unknown[]): string[] {
  return body.flatMap((statement) => {
    if (!isNode(statement)) return [];
    const inner = statement['declaration'];
    const declaration = isNode(inner) ? inner : statement;
    const declared = declaration['declarations'];
    if (declaration.type !== 'VariableDeclaration' || !Array.isArray(declared)) return [];
    return declared
      .filter((one: unknown) => declaration['kind'] !== 'const' || isEmptyCollection(one))
      .map((one: unknown) =>
        isNode(one) && isNode(one['id']) ? String(one['id']['name']) : 'a binding',
      );
  });
}

function isEmptyCollection(declarator: unknown): boolean {
  if (!isNode(declarator) || !isNode(declarator['init'])) return false;
  const { type, callee, arguments: args } = declarator['init'];
  if (type !== 'NewExpression' || !isNode(callee)) return false;
  const isCollection = callee['name'] === 'Map' || callee['name'] === 'Set';
  return isCollection && Array.isArray(args) && args.length === 0;
}
