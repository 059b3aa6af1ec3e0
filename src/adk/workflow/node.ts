import { checkOptions, InvalidInputError } from '../../core/index.ts';
import type { Tool } from '../../tools/index.ts';
import { BaseAgent } from '../agents/base-agent.ts';
import type { CompilableTool } from '../tools/compile-context.ts';
import { AgentNode, BaseNode, FunctionNode, NODE_OPTIONS } from './workflow-node.ts';
import { ToolNode } from './tool-node.ts';
import type { NodeHandler, NodeOptions } from './workflow-node.ts';

/** Anything that can be a node: a node, an agent, a tool, or a named function. */
export type NodeLike =
  | BaseNode
  | BaseAgent
  | Tool
  | (CompilableTool & { readonly name: string })
  | NodeHandler;

/**
 * Creates a node: `node(classify, { retryConfig })`.
 * @throws InvalidInputError if options are given for an existing node, or the function has no name
 */
export function node(like: NodeLike, options: NodeOptions = {}): BaseNode {
  checkOptions(NODE_OPTIONS, options);
  if (like instanceof BaseNode) {
    if (Object.keys(options).length === 0) return like;
    throw new InvalidInputError(
      'options',
      `cannot be set for "${like.name}", which is already a node: pass them where it is created.`,
    );
  }
  if (like instanceof BaseAgent) return new AgentNode(like, options);
  if (typeof like !== 'function') return new ToolNode(like, options);
  const name = options.name ?? like.name;
  if (name === '')
    throw new InvalidInputError('name', 'is required for a function without a name.');
  return new FunctionNode(name, like, options);
}

/** True if the value can be a node; false for a map of routes. */
export function isNodeLike(value: unknown): value is NodeLike {
  if (typeof value === 'function') return true;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (value instanceof BaseNode || value instanceof BaseAgent) return true;
  return 'compileTool' in value || ('declaration' in value && 'execute' in value);
}
