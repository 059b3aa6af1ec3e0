import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';

const SRC = new URL('../src/', import.meta.url).href;

/** Runs a function, and knows its name and its file. */
export type CallReporter = <T>(name: string, file: string, run: () => T) => T;

declare global {
  var petrichorCall: CallReporter;
}

/**
 * Reports every call of a function in the modules of `src/` that are loaded from now on, except constructors,
 * generators and empty functions.
 */
export function reportCalls(report: CallReporter): void {
  globalThis.petrichorCall = report;
  registerHooks({
    load: (url, context, nextLoad) => {
      if (!url.startsWith(SRC) || !url.endsWith('.ts')) return nextLoad(url, context);
      const source = stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'));
      const file = url.slice(SRC.length);
      return { format: 'module', shortCircuit: true, source: instrument(source, file) };
    },
  });
}

interface Insertion {
  readonly at: number;
  readonly text: string;
  /** Of several at one position: ends before beginnings, and the end of an inner function first. */
  readonly order: number;
}

/** Wraps the body of every function, except constructors, generators and empty functions. */
function instrument(source: string, file: string): string {
  const insertions: Insertion[] = [];
  const wrap = (start: number, end: number, [before, after]: readonly [string, string]): void => {
    const order = insertions.length + 1;
    insertions.push({ at: start, text: before, order }, { at: end, text: after, order: -order });
  };
  const visit = (node: unknown, name: string, isConstructor = false): void => {
    if (Array.isArray(node)) for (const one of node) visit(one, name);
    if (!isNode(node)) return;
    const ownName = findName(node) ?? name;
    if (isFunction(node) && !node.generator && !isConstructor) {
      const { body, async } = node;
      const call = `globalThis.petrichorCall(${JSON.stringify(ownName)}, ${JSON.stringify(file)}, ${async ? 'async ' : ''}() =>`;
      if (body.type !== 'BlockStatement') wrap(body.start, body.end, [`${call} (`, '))']);
      else if (Array.isArray(body['body']) && body['body'].length > 0)
        wrap(body.start + 1, body.end - 1, [`return ${call} {`, '});']);
    }
    for (const [key, child] of Object.entries(node))
      visit(child, ownName, key === 'value' && node['kind'] === 'constructor');
  };
  visit(parseSync(file.replace(/\.ts$/, '.js'), source).program.body, 'module');
  insertions.sort((one, other) => one.at - other.at || one.order - other.order);
  let [result, last] = ['', 0];
  for (const { at, text } of insertions) {
    result += source.slice(last, at) + text;
    last = at;
  }
  return result + source.slice(last);
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function isFunction(
  node: Node,
): node is Node & { readonly body: Node; readonly generator: boolean; readonly async: boolean } {
  return (
    ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(node.type) &&
    isNode(node['body'])
  );
}

/** The name of a function, a variable or a member. */
function findName(node: Node): string | undefined {
  const isMember = ['MethodDefinition', 'PropertyDefinition', 'Property'].includes(node.type);
  const id = isMember ? node['key'] : node['id'];
  if (!isNode(id) || typeof id['name'] !== 'string') return undefined;
  return id.type === 'PrivateIdentifier' ? `#${id['name']}` : id['name'];
}
