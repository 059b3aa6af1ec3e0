import { isNode, type Node } from './syntax-node.ts';

/** One name that a module declares. */
export interface Declaration {
  readonly name: string;
  readonly exported: boolean;
  /** A class, an interface or a type alias. */
  readonly type: boolean;
}

const typeDeclarations: ReadonlySet<string> = new Set([
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
  'ClassDeclaration',
]);

/** Everything that a module gives a name to: variables, parameters, functions, types, members. */
export function listDeclarations(program: unknown): readonly Declaration[] {
  const found: Declaration[] = [];
  const visit = (value: unknown, exported: boolean): void => {
    if (Array.isArray(value)) {
      for (const item of value) visit(item, exported);
      return;
    }
    if (!isNode(value)) return;
    for (const name of declaredNames(value)) {
      found.push({ name, exported, type: typeDeclarations.has(value.type) });
    }
    const inside = value.type === 'ExportNamedDeclaration';
    for (const key in value) {
      const child = value[key];
      if (typeof child === 'object') visit(child, inside);
    }
  };
  visit(program, false);
  return found;
}

function declaredNames(node: Node): readonly string[] {
  switch (node.type) {
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression': {
      const params = Array.isArray(node['params']) ? node['params'] : [];
      return [node['id'], ...params].flatMap(patternNames);
    }
    case 'ClassDeclaration':
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
    case 'VariableDeclarator':
      return patternNames(node['id']);
    case 'MethodDefinition':
    case 'PropertyDefinition':
    case 'TSPropertySignature':
    case 'TSMethodSignature':
      return node['computed'] === true ? [] : patternNames(node['key']);
    default:
      return [];
  }
}

function patternNames(pattern: unknown): readonly string[] {
  if (!isNode(pattern)) return [];
  switch (pattern.type) {
    case 'Identifier':
    case 'PrivateIdentifier':
      return [String(pattern['name'])];
    case 'AssignmentPattern':
      return patternNames(pattern['left']);
    case 'RestElement':
      return patternNames(pattern['argument']);
    case 'ArrayPattern':
      return Array.isArray(pattern['elements']) ? pattern['elements'].flatMap(patternNames) : [];
    case 'ObjectPattern':
      return Array.isArray(pattern['properties'])
        ? pattern['properties'].flatMap((one: unknown) =>
            isNode(one) ? patternNames(one['value'] ?? one) : [],
          )
        : [];
    case 'TSParameterProperty':
      return patternNames(pattern['parameter']);
    default:
      return [];
  }
}
