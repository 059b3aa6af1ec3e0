import type { StandardSchemaV1 } from '@standard-schema/spec';
import {
  checkOptions,
  describeValue,
  isObject,
  isPromise,
  omitUndefined,
  optionTable,
} from '../../core/internal.ts';
import { InvalidInputError, isJsonObject } from '../../core/index.ts';
import type { JsonObject, OptionTable } from '../../core/index.ts';
import { InvalidToolError } from '../schema/invalid-tool-error.ts';
import type { ToolParameters } from '../schema/tool-parameters.ts';
import { providerTool, withProviderDeclaration } from './provider-tool.ts';
import type { ToolContext } from './tool-context.ts';
import { ToolFailedError } from './tool-failed-error.ts';
import { tool, type Tool, type ToolDefinition } from './tool.ts';

/**
 * A tool of the AI SDK: what `tool()`, `dynamicTool()` and the tools of its provider packages return. It is recognized by
 * its members, so no package of the SDK is needed for the type.
 */
export type AiSdkTool = object;

/** Options of `aiSdkTools`. */
export interface AiSdkToolsOptions {
  /** Passed to each `execute` as `context` and `experimental_context`. Default: none. */
  readonly context?: unknown;
  /**
   * Options of single tools that the AI SDK does not have, by the name of the tool, such as `onCrash` and `readOnly`.
   * Default: none.
   */
  readonly durability?: Readonly<Record<string, AiSdkToolDurability>>;
}

/** The options of a tool that concern crashes and waiting. The AI SDK does not have them. */
export type AiSdkToolDurability = Pick<
  ToolDefinition<ToolParameters>,
  'readOnly' | 'idempotent' | 'onCrash' | 'timeoutMs' | 'maxResultCharacters'
>;

/** The options of `aiSdkTools`. */
export const AI_SDK_TOOLS_OPTIONS: OptionTable = optionTable<AiSdkToolsOptions>('aiSdkTools', {
  context: true,
  durability: true,
});

/** The options of a tool in `durability`. */
export const DURABILITY_OPTIONS: OptionTable = optionTable<AiSdkToolDurability>(
  'aiSdkTools durability',
  {
    readOnly: true,
    idempotent: true,
    onCrash: true,
    timeoutMs: true,
    maxResultCharacters: true,
  },
);

/** Members of an AI SDK tool that have no meaning here. */
const REFUSED_MEMBERS: readonly string[] = [
  'inputExamples',
  'strict',
  'providerOptions',
  'onInputStart',
  'onInputDelta',
  'onInputAvailable',
];

/**
 * Converts the tools of a `ToolSet` of the AI SDK, in its order. A tool without `execute` waits for its answer from
 * outside, and a tool that the provider runs becomes a `providerTool`. `execute` gets no `messages`: reading them throws.
 * Of a stream of results, the last one is the result, and the earlier ones are shown as progress.
 * @throws InvalidToolError for a tool with a member that has no meaning here, such as `strict`, or without a schema
 * @throws InvalidInputError if `tools` is not an object
 */
export function aiSdkTools(
  tools: Readonly<Record<string, AiSdkTool>>,
  options: AiSdkToolsOptions = {},
): readonly Tool[] {
  checkOptions(AI_SDK_TOOLS_OPTIONS, options);
  if (!isObject(tools) || Array.isArray(tools))
    throw new InvalidInputError(
      'tools',
      `must be an object of AI SDK tools by their names; it is ${describeValue(tools)}.`,
    );
  const { durability = {} } = options;
  const unknown = Object.keys(durability).find((name) => !Object.hasOwn(tools, name));
  if (unknown !== undefined)
    throw new InvalidInputError(`durability.${unknown}`, 'is not the name of one of the tools.');
  return Object.entries(tools).map(([name, one]) => {
    const own = durability[name] ?? {};
    checkOptions(DURABILITY_OPTIONS, own);
    return toTool(name, one, own, options.context);
  });
}

function toTool(
  name: string,
  one: AiSdkTool,
  durability: AiSdkToolDurability,
  shared: unknown,
): Tool {
  if (!isObject(one))
    throw new InvalidToolError(name, `must be a tool of the AI SDK; it is ${describeValue(one)}.`);
  const refused = REFUSED_MEMBERS.find((member) => one[member] !== undefined);
  if (refused !== undefined)
    throw new InvalidToolError(name, `its ${refused} has no meaning here: remove it.`);
  const { description = '', inputSchema, execute, needsApproval, toModelOutput } = one;
  const provider = readProvider(name, one);
  // The AI SDK says of tools that the provider declares, but the program runs, that they are not run by the provider.
  if (provider !== undefined && execute === undefined && one['isProviderExecuted'] !== false)
    return providerTool({ name, ...provider });
  if (typeof description !== 'string')
    throw new InvalidToolError(
      name,
      'its description must be a text: a function has no meaning here.',
    );
  const converted = tool<ToolParameters>({
    name,
    description,
    ...durability,
    parameters: readSchema(name, inputSchema),
    ...omitUndefined({
      needsApproval: toApprovalRule(name, needsApproval, shared),
      execute: isFunction(execute)
        ? async (args: unknown, context: ToolContext) => {
            const facts = toExecutionOptions(name, context, shared);
            const output = await readOutput(execute(args, facts), context);
            if (!isFunction(toModelOutput)) return output;
            const { callId: toolCallId } = context;
            return fromModelOutput(await toModelOutput({ toolCallId, input: args, output }));
          }
        : undefined,
    }),
  });
  return provider === undefined ? converted : withProviderDeclaration(converted, provider);
}

function readProvider(
  name: string,
  one: Readonly<Record<string, unknown>>,
): { readonly id: string; readonly args: JsonObject } | undefined {
  const { type, id, args = {} } = one;
  if (type !== 'provider' && type !== 'provider-defined') return undefined;
  if (typeof id !== 'string') throw new InvalidToolError(name, 'has no id of its provider.');
  if (!isJsonObject(args)) throw new InvalidToolError(name, 'its args must be an object.');
  return { id, args };
}

function readSchema(name: string, schema: unknown): ToolParameters {
  const found: unknown = isFunction(schema) && !hasStandardSchema(schema) ? schema() : schema;
  if (hasStandardSchema(found)) return found;
  const json = isObject(found) ? found['jsonSchema'] : undefined;
  if (isJsonObject(json)) return json;
  const problem = isPromise(json) || isPromise(found) ? 'must not be a promise' : 'is missing';
  throw new InvalidToolError(
    name,
    `its inputSchema ${problem}. Use a schema of zod, valibot or arktype, or jsonSchema().`,
  );
}

function toApprovalRule(
  name: string,
  needsApproval: unknown,
  shared: unknown,
): ToolDefinition<ToolParameters>['needsApproval'] {
  if (needsApproval === undefined || typeof needsApproval === 'boolean') return needsApproval;
  if (!isFunction(needsApproval))
    throw new InvalidToolError(name, 'its needsApproval must be a boolean or a function.');
  return (args, { callId }) => {
    const answer = needsApproval(args, toExecutionOptions(name, { callId }, shared));
    // A rule decides at once. A person decides where it does not.
    if (isPromise(answer)) void Promise.resolve(answer).catch(() => undefined);
    return answer !== false;
  };
}

function toExecutionOptions(
  name: string,
  { callId, signal }: Pick<ToolContext, 'callId'> & Partial<Pick<ToolContext, 'signal'>>,
  shared: unknown,
): object {
  return {
    toolCallId: callId,
    ...omitUndefined({ abortSignal: signal }),
    context: shared,
    experimental_context: shared,
    get messages(): never {
      throw new ToolFailedError(`The tool "${name}" reads messages, which tools do not get here.`);
    },
  };
}

async function readOutput(result: unknown, { progress }: ToolContext): Promise<unknown> {
  if (!isAsyncIterable(result)) return result;
  let last: unknown;
  let hasLast = false;
  for await (const value of result) {
    if (hasLast) progress(typeof last === 'string' ? last : JSON.stringify(last));
    last = value;
    hasLast = true;
  }
  return last;
}

/** The result that the AI SDK would show to the model. */
function fromModelOutput(output: unknown): unknown {
  if (!isObject(output)) return output;
  const { type, value } = output;
  if (type === 'error-text') throw new ToolFailedError(String(value));
  if (type === 'error-json') throw new ToolFailedError(JSON.stringify(value));
  if (type === 'content' && Array.isArray(value)) return { content: value.map(fromModelPart) };
  if (type === 'execution-denied')
    throw new ToolFailedError('The tool was not run: it was denied.');
  return value;
}

/** A part of a result. Images have the form in which models see them. */
function fromModelPart(part: unknown): unknown {
  if (!isObject(part)) return part;
  const { type, mediaType: mimeType, data } = part;
  if (type === 'text') return { text: part['text'] };
  const bytes = isObject(data) ? data['data'] : data;
  return typeof mimeType === 'string' && typeof bytes === 'string'
    ? { inlineData: { mimeType, data: bytes } }
    : part;
}

// Schemas of arktype are functions.
function hasStandardSchema(value: unknown): value is StandardSchemaV1 {
  return (isObject(value) || isFunction(value)) && '~standard' in value;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return isObject(value) && Symbol.asyncIterator in value;
}

function isFunction(value: unknown): value is (...args: readonly unknown[]) => unknown {
  return typeof value === 'function';
}
