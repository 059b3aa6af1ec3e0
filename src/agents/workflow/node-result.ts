import { omitUndefined } from '../../core/internal.ts';
import { decodeJson, encodeJson, isJsonObject, parseContent } from '../../core/index.ts';
import type { Content, Json, JsonObject } from '../../core/index.ts';
import { parseActions } from '../callbacks/parse-actions.ts';
import type { UnsupportedActions } from '../callbacks/parse-actions.ts';
import type { LiveNodeContext } from './node-context.ts';
import { NodeEvent, RequestInput } from './node-event.ts';
import type { ParsedNodeResult } from './node-event.ts';
import type { NodeGenerator } from './node-generator-cache.ts';
import { textContent } from './node-message.ts';
import type {
  EachNodeDefinition,
  FunctionNodeDefinition,
  NodeBody,
} from './workflow-definition.ts';
import type { NodeStep } from './workflow-places.ts';

/** The value as an async generator, if it is a sync or async generator; else undefined. */
export function toGenerator(value: unknown): NodeGenerator | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!('next' in value) || typeof value.next !== 'function') return undefined;
  if (Symbol.asyncIterator in value)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a value with next and asyncIterator is an async generator
    return value as unknown as NodeGenerator;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a value with next and iterator is a generator
  return Symbol.iterator in value ? toAsyncGenerator(value as unknown as Generator) : undefined;
}

async function* toAsyncGenerator(generator: Generator<unknown, unknown, unknown>): NodeGenerator {
  try {
    let next = generator.next();
    while (next.done !== true) next = generator.next(yield next.value);
    return next.value;
  } finally {
    generator.return(undefined);
  }
}

/**
 * Runs a new generator through the yields that were made before.
 * @throws Error when it ends after fewer yields than before
 */
export async function replayYields(
  name: string,
  generator: NodeGenerator,
  step: NodeStep,
): Promise<void> {
  for (let index = 0; index < step.yielded; index++) {
    const { done } = await generator.next(findReply(step, index));
    if (done === true)
      throw new Error(
        `"${name}" ended after ${index} yields, but had yielded ${step.yielded} times before. Make it deterministic between yields.`,
      );
  }
}

/** The reply to the last of the first `yielded` yields. */
export function findReply({ replies }: NodeStep, yielded: number): Json | undefined {
  return replies?.[String(yielded - 1)];
}

const UNSUPPORTED_IN_NODES: UnsupportedActions = {
  transferToAgent: 'is for agents: a node selects the next node with a route.',
};

/**
 * Parses a value that a node yielded or returned: a `NodeEvent`, content, or an output.
 * @throws NotSerializableError for an output that is not JSON
 * @throws InvalidInputError for an unsupported action
 */
export function parseNodeResult(
  name: string,
  value: unknown,
  unsupported: UnsupportedActions = UNSUPPORTED_IN_NODES,
): ParsedNodeResult {
  if (value === undefined || value === null) return {};
  if (value instanceof NodeEvent) {
    const { content, output, state: delta } = value;
    const { stateDelta, shown, endInvocation } = parseActions(value.actions, unsupported);
    const { route = shown.route } = value;
    return {
      ...omitUndefined({
        content: content === undefined ? undefined : toModelContent(content),
        output: output === undefined ? undefined : decodeJson(encodeJson(output, name), name),
        route,
      }),
      state: { ...stateDelta, ...delta },
      shown,
      endInvocation,
    };
  }
  return isContent(value)
    ? { content: toModelContent(value) }
    : { output: decodeJson(encodeJson(value, name), name) };
}

function isContent(value: unknown): value is Content {
  return isJsonObject(value) && typeof value['role'] === 'string' && Array.isArray(value['parts']);
}

function toModelContent(content: Content): Content {
  return parseContent({ ...content, role: 'model' }, { unknownParts: 'keep' });
}

/**
 * The output of the run so far, validated, and the same output as content.
 * @throws Error for a second output, and errors of `parseOutput`
 */
export function validateOutput(
  { name, parseOutput }: FunctionNodeDefinition | EachNodeDefinition,
  { output: result }: ParsedNodeResult,
  { output: before }: Pick<NodeStep, 'output'>,
): { readonly output?: Json; readonly content?: Content } {
  if (result === undefined)
    return before === undefined ? {} : { output: before, content: textContent(before) };
  if (before !== undefined)
    throw new Error(
      `"${name}" gave two outputs in one run: give one, and yield the rest as content.`,
    );
  const output = parseOutput?.(result) ?? result;
  return { output, content: textContent(output) };
}

/** Runs a node's function to its end and merges all its results. Its yields are not committed one by one. */
export async function collectNodeResult(
  name: string,
  run: NodeBody,
  liveContext: LiveNodeContext,
  input: Json,
): Promise<ParsedNodeResult> {
  const returned = run(liveContext.context, input);
  const generator = toGenerator(returned);
  if (generator === undefined) return parseItemResult(name, await returned);
  let all: ParsedNodeResult = {};
  for (;;) {
    const { done, value } = await generator.next();
    const result = parseItemResult(name, value);
    if (all.output !== undefined && result.output !== undefined)
      throw new Error(`"${name}" gave two outputs for one item.`);
    const parts = [...(all.content?.parts ?? []), ...(result.content?.parts ?? [])];
    all = {
      ...all,
      ...result,
      ...(parts.length > 0 && { content: { role: 'model', parts } }),
      state: { ...all.state, ...result.state },
      shown: { ...all.shown, ...result.shown },
      endInvocation: all.endInvocation === true || result.endInvocation === true,
    };
    if (done === true) return all;
  }
}

const UNSUPPORTED_IN_ITEMS: UnsupportedActions = {
  ...UNSUPPORTED_IN_NODES,
  escalate: 'is for agents and nodes, not for one item of a list.',
  endOfAgent: 'is for agents and nodes, not for one item of a list.',
};

function parseItemResult(name: string, value: unknown): ParsedNodeResult {
  if (value instanceof RequestInput)
    throw new Error(
      `"${name}" processes the items of a list and cannot ask a question. Ask it in a function node.`,
    );
  return parseNodeResult(name, value, UNSUPPORTED_IN_ITEMS);
}

/**
 * A copy of the value as a JSON object; empty if it is not an object.
 * @throws NotSerializableError
 */
export function toJsonObject(value: unknown, what: string): JsonObject {
  const json = decodeJson(encodeJson(value, what), what);
  return isJsonObject(json) ? json : {};
}
