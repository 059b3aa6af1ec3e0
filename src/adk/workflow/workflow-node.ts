import type { StandardSchemaV1 } from '@standard-schema/spec';
import type {
  NodeBody,
  WorkflowNodeDefinition as NetNode,
} from '../../agents/workflow/workflow-definition.ts';
import type { NodeContext } from '../../agents/workflow/node-context.ts';
import { InvalidInputError, isJsonObject, PetrichorError } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import type { Tool, ToolContext } from '../../tools/index.ts';
import { readRunConfig } from '../../tools/state/run-config-json.ts';
import { createActions } from '../../tools/index.ts';
import type { ToolActions } from '../../tools/index.ts';
import type { BaseAgent } from '../agents/base-agent.ts';
import type { CompileContext, CompilableTool } from '../tools/compile-context.ts';
import { LlmAgent } from '../agents/llm-agent.ts';
import { toRetry } from './retry-config.ts';
import type { RetryConfig } from './retry-config.ts';

/**
 * The function of a node. Returns a value, an `Event`, content, a `RequestInput`, or nothing; or it is a generator of
 * these.
 */
export type NodeHandler = (context: NodeContext, input: never) => unknown;

/** Options of a node: retries, timeout, concurrency and schemas. */
export interface NodeOptions {
  /** Default: the name of the function, agent or tool. */
  readonly name?: string;
  readonly description?: string;
  /**
   * True: the node continues when its request for input is answered. False: a run that a crash interrupted has failed.
   * Default: the answer to a request for input is the node's output, and a run that a crash interrupted runs again.
   */
  readonly rerunOnResume?: boolean;
  readonly retryConfig?: RetryConfig;
  /** Timeout of a run, or for a generator of the step between two yields, in milliseconds. Default: 300,000. */
  readonly timeoutMs?: number;
  /** Validates the input; `outputSchema` validates the output. */
  readonly inputSchema?: StandardSchemaV1;
  readonly outputSchema?: StandardSchemaV1;
  /** True: runs once for each item of a list, and returns a list. Default: false. */
  readonly parallelWorker?: boolean;
  /** Maximum number of items that are processed at the same time. Default: 8. */
  readonly maxParallelWorkers?: number;
}

/** The input or output of a node does not match its schema. */
export class NodeSchemaError extends PetrichorError {
  override readonly code = 'node_schema' as const;
  readonly nodeName: string;
  readonly direction: 'input' | 'output';

  constructor(nodeName: string, direction: 'input' | 'output', problem: string) {
    super(`The ${direction} of node "${nodeName}" does not match its schema: ${problem}`);
    this.nodeName = nodeName;
    this.direction = direction;
  }
}

/** A node of a workflow. `node()` creates one. */
export abstract class BaseNode {
  readonly name: string;
  readonly description: string;
  protected readonly options: NodeOptions;

  constructor(name: string, options: NodeOptions = {}) {
    this.name = options.name ?? name;
    this.description = options.description ?? '';
    this.options = options;
  }

  /**
   * Compiles the node for the workflow's net.
   * @throws InvalidInputError if the node or its options are invalid
   */
  abstract compileNode(context: CompileContext): Promise<NetNode>;
}

/** A node that runs a function. */
export class FunctionNode extends BaseNode {
  readonly #handler: NodeHandler;

  constructor(name: string, handler: NodeHandler, options: NodeOptions = {}) {
    super(name, options);
    this.#handler = handler;
  }

  override async compileNode(): Promise<NetNode> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its input has the type of its schema or of the output of the previous node
    return toNetNode(this.name, this.#handler as NodeBody, this.options);
  }
}

/** A node that waits for all nodes before it and returns their outputs, by node name. */
export class JoinNode extends BaseNode {
  constructor({ name, description }: { readonly name: string; readonly description?: string }) {
    super(name, description === undefined ? {} : { description });
  }

  override async compileNode(): Promise<NetNode> {
    return { kind: 'join', name: this.name };
  }
}

/** A node that runs an agent. */
export class AgentNode extends BaseNode {
  readonly agent: BaseAgent;

  constructor(agent: BaseAgent, options: NodeOptions = {}) {
    super(agent.name, options);
    this.agent = agent;
  }

  override async compileNode(context: CompileContext): Promise<NetNode> {
    const { agent, name } = this;
    const { parallelWorker, maxParallelWorkers, timeoutMs, retryConfig } = this.options;
    if (name !== agent.name)
      throw new InvalidInputError(
        'name',
        `must be "${agent.name}": a node that runs an agent has the agent's name.`,
      );
    const compiled = await agent.compile(context);
    if (parallelWorker === true)
      return {
        kind: 'each-agent',
        name,
        agent: compiled,
        ...(maxParallelWorkers !== undefined && { maxAtOnce: maxParallelWorkers }),
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(retryConfig !== undefined && { retry: toRetry(retryConfig) }),
      };
    const unsupported = findUnsupportedOption(this.options);
    if (unsupported !== undefined)
      throw new InvalidInputError(
        unsupported,
        `is not supported for the agent "${name}": set it on the agent, or use a function node.`,
      );
    return {
      kind: 'agent',
      name,
      agent: compiled,
      ...(agent instanceof LlmAgent && agent.returnsJson && { toOutput: parseJson }),
    };
  }
}

/** A node that runs a tool. Its input is the arguments, its output the result. */
export class ToolNode extends BaseNode {
  readonly #tool: Tool | CompilableTool;

  constructor(
    tool: (Tool | CompilableTool) & { readonly name: string },
    options: NodeOptions = {},
  ) {
    super(tool.name, options);
    this.#tool = tool;
  }

  override async compileNode(context: CompileContext): Promise<NetNode> {
    const source = this.#tool;
    const tool = 'compileTool' in source ? await source.compileTool(context) : source;
    if (tool.needsApproval !== false || tool.external || tool.longRunning)
      throw new InvalidInputError(
        'edges',
        `contain the tool "${tool.name}", whose calls wait for an answer from outside: let an agent call it.`,
      );
    return toNetNode(this.name, toolBody(tool), { timeoutMs: tool.timeoutMs, ...this.options });
  }
}

function toNetNode(name: string, run: NodeBody, options: NodeOptions): NetNode {
  const { timeoutMs, retryConfig, rerunOnResume, inputSchema, outputSchema } = options;
  const body = {
    name,
    run,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(retryConfig !== undefined && { retry: toRetry(retryConfig) }),
    ...(rerunOnResume !== undefined && { rerunOnResume }),
    ...(inputSchema !== undefined && {
      parseInput: createSchemaParser(name, 'input', inputSchema),
    }),
    ...(outputSchema !== undefined && {
      parseOutput: createSchemaParser(name, 'output', outputSchema),
    }),
  };
  const { parallelWorker, maxParallelWorkers } = options;
  if (parallelWorker !== true) return { kind: 'function', ...body };
  return {
    kind: 'each',
    ...body,
    ...(maxParallelWorkers !== undefined && { maxAtOnce: maxParallelWorkers }),
  };
}

/** Returns the first option that is not supported for an agent's node. */
function findUnsupportedOption(options: NodeOptions): string | undefined {
  const { retryConfig, timeoutMs, rerunOnResume, inputSchema, outputSchema } = options;
  const unsupported = { retryConfig, timeoutMs, rerunOnResume, inputSchema, outputSchema };
  return Object.entries(unsupported).find(([, value]) => value !== undefined)?.[0];
}

function createSchemaParser(
  name: string,
  direction: 'input' | 'output',
  schema: StandardSchemaV1,
): (value: Json) => Json {
  return (value) => {
    const result = schema['~standard'].validate(value);
    if (result instanceof Promise) {
      result.catch(() => undefined);
      throw new NodeSchemaError(name, direction, 'the schema is asynchronous.');
    }
    if (result.issues === undefined)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an output is encoded to JSON again, an input is only passed to the function
      return result.value as Json;
    const [issue] = result.issues;
    const path = (issue?.path ?? []).map((key) => String(typeof key === 'object' ? key.key : key));
    throw new NodeSchemaError(
      name,
      direction,
      `${path.length > 0 ? `${path.join('.')}: ` : ''}${issue?.message ?? ''}`,
    );
  };
}

/** Parses the answer of an agent with an output schema. */
function parseJson(text: string): Json {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse returns only JSON
  return JSON.parse(text) as Json;
}

function toolBody(tool: Tool): NodeBody {
  return async (context, input) => {
    const parsed = tool.parse(parseArgs(input));
    if (!parsed.ok)
      throw new InvalidInputError(
        'input',
        `does not match the parameters of tool "${tool.name}": ${parsed.message}`,
      );
    return tool.execute(parsed.value, toToolContext(context));
  };
}

function parseArgs(input: Json): JsonObject {
  if (isJsonObject(input)) return input;
  if (typeof input !== 'string' || !input.trimStart().startsWith('{')) return {};
  const value: unknown = JSON.parse(input);
  return isJsonObject(value) ? value : {};
}

function toToolContext(context: NodeContext): ToolContext {
  const act = ({ endInvocation }: ToolActions): void => {
    if (endInvocation === true) context.actions.endInvocation();
  };
  const { signal, firingId, attempt, sessionKey, invocationId, userContent } = context;
  const { state, artifacts, memory, nodeName } = context;
  return {
    callId: firingId,
    invocationId,
    sessionKey,
    agentName: nodeName,
    signal,
    firingId,
    attempt,
    userContent,
    runConfig: readRunConfig(state),
    state,
    artifacts,
    memory,
    progress: () => {},
    act,
    actions: createActions(act),
  };
}
