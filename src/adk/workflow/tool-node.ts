import type {
  NodeBody,
  WorkflowNodeDefinition as NetNode,
  NodeContext,
} from '../../agents/index.ts';
import { InvalidInputError, isJsonObject } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import type { Tool, ToolContext } from '../../tools/index.ts';
import { createActions } from '../../tools/index.ts';
import type { ToolActions } from '../../tools/index.ts';
import type { CompileContext, CompilableTool } from '../tools/compile-context.ts';
import { BaseNode, toNetNode } from './workflow-node.ts';
import type { NodeOptions } from './workflow-node.ts';

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
  const { state, artifacts, memory, nodeName, runConfig, metadata } = context;
  return {
    callId: firingId,
    invocationId,
    sessionKey,
    agentName: nodeName,
    signal,
    firingId,
    attempt,
    userContent,
    runConfig,
    metadata,
    state,
    artifacts,
    memory,
    progress: () => {},
    act,
    actions: createActions(act),
  };
}
