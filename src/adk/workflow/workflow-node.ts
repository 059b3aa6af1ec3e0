import { checkDefinition, omitUndefined } from '../../core/internal.ts';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type {
  NodeBody,
  WorkflowNodeDefinition as NetNode,
  NodeContext,
} from '../../agents/index.ts';
import { InvalidInputError, optionTable } from '../../core/index.ts';
import type { Json, OptionTable } from '../../core/index.ts';
import type { BaseAgent } from '../agents/base-agent.ts';
import type { CompileContext } from '../tools/compile-context.ts';
import { LlmAgent } from '../agents/llm-agent.ts';
import { toRetry } from './retry-config.ts';
import type { RetryConfig } from './retry-config.ts';
import { createSchemaParser } from './node-schema.ts';

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

/** The options of `node`. */
export const NODE_OPTIONS: OptionTable = optionTable<NodeOptions>('node', {
  name: true,
  description: true,
  rerunOnResume: true,
  retryConfig: true,
  timeoutMs: true,
  inputSchema: true,
  outputSchema: true,
  parallelWorker: true,
  maxParallelWorkers: true,
});

/** Options of `JoinNode`. */
export interface JoinNodeOptions {
  readonly name: string;
  readonly description?: string;
}

/** The options of `JoinNode`. */
export const JOIN_NODE_OPTIONS: OptionTable = optionTable<JoinNodeOptions>('JoinNode', {
  name: true,
  description: true,
});

/** A node that waits for all nodes before it and returns their outputs, by node name. */
export class JoinNode extends BaseNode {
  constructor(options: JoinNodeOptions) {
    if (new.target === JoinNode) checkDefinition(JOIN_NODE_OPTIONS, options);
    const { name, description } = options;
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
    const isWorkflowNode = agent instanceof LlmAgent;
    const compiled = await agent.compile({ ...context, isWorkflowNode });
    if (parallelWorker === true)
      return {
        kind: 'each-agent',
        name,
        agent: compiled,
        ...omitUndefined({
          maxAtOnce: maxParallelWorkers,
          timeoutMs,
          retry: retryConfig === undefined ? undefined : toRetry(retryConfig),
        }),
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
      ...omitUndefined({
        toOutput: agent instanceof LlmAgent && agent.returnsJson ? parseJson : undefined,
      }),
    };
  }
}

export function toNetNode(name: string, run: NodeBody, options: NodeOptions): NetNode {
  const { timeoutMs, retryConfig, rerunOnResume, inputSchema, outputSchema } = options;
  const body = {
    name,
    run,
    ...omitUndefined({
      timeoutMs,
      retry: retryConfig === undefined ? undefined : toRetry(retryConfig),
      rerunOnResume,
      parseInput:
        inputSchema === undefined ? undefined : createSchemaParser(name, 'input', inputSchema),
      parseOutput:
        outputSchema === undefined ? undefined : createSchemaParser(name, 'output', outputSchema),
    }),
  };
  const { parallelWorker, maxParallelWorkers } = options;
  if (parallelWorker !== true) return { kind: 'function', ...body };
  return {
    kind: 'each',
    ...body,
    ...omitUndefined({ maxAtOnce: maxParallelWorkers }),
  };
}

/** Returns the first option that is not supported for an agent's node. */
function findUnsupportedOption(options: NodeOptions): string | undefined {
  const { retryConfig, timeoutMs, rerunOnResume, inputSchema, outputSchema } = options;
  const unsupported = { retryConfig, timeoutMs, rerunOnResume, inputSchema, outputSchema };
  return Object.entries(unsupported).find(([, value]) => value !== undefined)?.[0];
}

/** Parses the answer of an agent with an output schema. */
function parseJson(text: string): Json {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse returns only JSON
  return JSON.parse(text) as Json;
}
