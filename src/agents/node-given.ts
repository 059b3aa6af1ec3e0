import { decodeJson, encodeJson, isJsonObject, parseContent } from '../core/index.ts';
import type { Content, Json, JsonObject } from '../core/index.ts';
import { parseActions } from './given-actions.ts';
import type { RefusedActions } from './given-actions.ts';
import type { NodeScope } from './node-context.ts';
import { NodeEvent, RequestInput } from './node-event.ts';
import type { NodeTaken } from './node-event.ts';
import type { NodeGenerator } from './node-runs.ts';
import { textContent } from './node-saying.ts';
import type { EachNode, FunctionNode, NodeBody } from './workflow-definition.ts';
import type { NodeStep } from './workflow-places.ts';

export function generatorOf(made: unknown): NodeGenerator | undefined {
  if (typeof made !== 'object' || made === null) return undefined;
  if (!('next' in made) || typeof made.next !== 'function') return undefined;
  if (Symbol.asyncIterator in made)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what has next and asyncIterator is one
    return made as unknown as NodeGenerator;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what has next and iterator is one
  return Symbol.iterator in made ? asynchronous(made as unknown as Generator) : undefined;
}

async function* asynchronous(generator: Generator<unknown, unknown, unknown>): NodeGenerator {
  try {
    let next = generator.next();
    while (next.done !== true) next = generator.next(yield next.value);
    return next.value;
  } finally {
    generator.return(undefined);
  }
}

/** Runs a generator over what it had yielded already. @throws Error when it yields less than it did */
export async function skipped(
  name: string,
  generator: NodeGenerator,
  step: NodeStep,
): Promise<void> {
  for (let index = 0; index < step.yielded; index++) {
    const { done } = await generator.next(replyOf(step, index));
    if (done === true)
      throw new Error(
        `"${name}" ended after ${index} yields, and had yielded ${step.yielded} before.`,
      );
  }
}

/** What the generator gets back for the yield before this one. */
export function replyOf({ replies }: NodeStep, yielded: number): Json | undefined {
  return replies?.[String(yielded - 1)];
}

const NOT_FOR_NODES: RefusedActions = {
  transferToAgent: 'is for agents: a node says where its workflow goes on with a route.',
};

/** What a value that a node gave is. @throws NotSerialisableError, InvalidInputError for an action that it cannot ask for */
export function givenBy(
  name: string,
  value: unknown,
  refused: RefusedActions = NOT_FOR_NODES,
): NodeTaken {
  if (value === undefined || value === null) return {};
  if (value instanceof NodeEvent) {
    const { content, output, state: delta } = value;
    const { stateDelta, shown, endInvocation } = parseActions(value.actions, refused);
    const { route = shown.route } = value;
    return {
      ...(content !== undefined && { content: contentOf(content) }),
      ...(output !== undefined && { output: decodeJson(encodeJson(output, name), name) }),
      ...(route !== undefined && { route }),
      state: { ...stateDelta, ...delta },
      shown,
      endInvocation,
    };
  }
  return isContent(value)
    ? { content: contentOf(value) }
    : { output: decodeJson(encodeJson(value, name), name) };
}

function isContent(value: unknown): value is Content {
  return isJsonObject(value) && typeof value['role'] === 'string' && Array.isArray(value['parts']);
}

function contentOf(content: Content): Content {
  return parseContent({ ...content, role: 'model' }, { unknownParts: 'keep' });
}

/** The output of the run until now, judged, and as words. @throws Error for a second one, and what judging throws */
export function checkedOutput(
  { name, parseOutput }: FunctionNode | EachNode,
  { output: given }: NodeTaken,
  { output: before }: Pick<NodeStep, 'output'>,
): { readonly output?: Json; readonly words?: Content } {
  if (given === undefined)
    return before === undefined ? {} : { output: before, words: textContent(before) };
  if (before !== undefined)
    throw new Error(
      `"${name}" gave two outputs in one run: give one, and say the rest as content.`,
    );
  const output = parseOutput?.(given) ?? given;
  return { output, words: textContent(output) };
}

/** All that a node gives in one go. */
export async function allGiven(
  name: string,
  run: NodeBody,
  scope: NodeScope,
  input: Json,
): Promise<NodeTaken> {
  const made = run(scope.context, input);
  const generator = generatorOf(made);
  if (generator === undefined) return itemGiven(name, await made);
  let all: NodeTaken = {};
  for (;;) {
    const { done, value } = await generator.next();
    const given = itemGiven(name, value);
    if (all.output !== undefined && given.output !== undefined)
      throw new Error(`"${name}" gave two outputs for one item.`);
    const parts = [...(all.content?.parts ?? []), ...(given.content?.parts ?? [])];
    all = {
      ...all,
      ...given,
      ...(parts.length > 0 && { content: { role: 'model', parts } }),
      state: { ...all.state, ...given.state },
      shown: { ...all.shown, ...given.shown },
      endInvocation: all.endInvocation === true || given.endInvocation === true,
    };
    if (done === true) return all;
  }
}

const NOT_FOR_ITEMS: RefusedActions = {
  ...NOT_FOR_NODES,
  escalate: 'is for agents and nodes, and not for one item of a list.',
  endOfAgent: 'is for agents and nodes, and not for one item of a list.',
};

function itemGiven(name: string, value: unknown): NodeTaken {
  if (value instanceof RequestInput)
    throw new Error(`"${name}" works on the items of a list, and nobody can be asked about one.`);
  return givenBy(name, value, NOT_FOR_ITEMS);
}

export function asJson(value: unknown, what: string): JsonObject {
  const json = decodeJson(encodeJson(value, what), what);
  return isJsonObject(json) ? json : {};
}
