import { readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';
import { isNode } from '../../architecture/syntax-node.ts';
import type { Node } from '../../architecture/syntax-node.ts';

/** A type of `@google/adk`: its declaration file and its name there, or a method whose first parameter it is. */
export interface DeclaredType {
  readonly file: string;
  readonly name: string;
  readonly method?: string;
}

/** Lists the members of types in the declaration files of the installed `@google/adk`. */
export function listDeclaredOptions(types: readonly DeclaredType[]): readonly string[] {
  return [...new Set(types.flatMap(listMembers))];
}

function listMembers({ file, name, method }: DeclaredType): readonly string[] {
  const url = new URL(import.meta.resolve('@google/adk'));
  const path = new URL(`../types/${file}.d.ts`, url);
  const { program, errors } = parseSync(file, readFileSync(path, 'utf8'), { lang: 'dts' });
  if (errors.length > 0) throw new Error(`${file} does not parse.`);
  const declaration = findNode(
    program,
    (node) => isDeclaration(node) && Reflect.get(Object(node['id']), 'name') === name,
  );
  const holder =
    method === undefined
      ? declaration
      : findNode(
          declaration,
          ({ type, key }) =>
            type === 'MethodDefinition' && Reflect.get(Object(key), 'name') === method,
        );
  const members = listSignatures(holder);
  if (members.length === 0) throw new Error(`${file} declares no ${name}.`);
  return members;
}

function isDeclaration({ type }: Node): boolean {
  return ['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'ClassDeclaration'].includes(type);
}

/** The members of a type, without those of types inside of it. */
function listSignatures(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(listSignatures);
  if (!isNode(value)) return [];
  if (value.type === 'TSPropertySignature') {
    const name: unknown = Reflect.get(Object(value['key']), 'name');
    return typeof name === 'string' ? [name] : [];
  }
  return Object.values(value).flatMap(listSignatures);
}

function findNode(value: unknown, matches: (node: Node) => boolean): Node | undefined {
  if (Array.isArray(value)) {
    for (const one of value) {
      const found = findNode(one, matches);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isNode(value)) return undefined;
  return matches(value) ? value : findNode(Object.values(value), matches);
}
