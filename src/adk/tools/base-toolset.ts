import type { Tool, Toolset } from '../../tools/index.ts';
import type { ToolInfo } from '../contracts/agent-callbacks.ts';
import type { CompilableTool, ManagedToolset, RequestTool } from './compile-context.ts';
import type { CallbackContext } from '../contracts/contexts.ts';

/** Which tools of a set an agent may use: their names, or a function that is called each time. */
export type ToolFilter =
  | readonly string[]
  | ((tool: ToolInfo, context: CallbackContext) => boolean);

/** Tools that are opened when the app is built and closed with the runner. */
export abstract class BaseToolset implements ManagedToolset {
  readonly name: string;
  /**
   * A tool that it rejects is not offered, and a call of it is answered with an error. Default: all tools are allowed.
   */
  readonly toolFilter: ToolFilter | undefined;

  constructor(name: string, { toolFilter }: { readonly toolFilter?: ToolFilter } = {}) {
    this.name = name;
    this.toolFilter = toolFilter;
  }

  /** Called once, when the app is built. */
  abstract getTools(): Promise<readonly (Tool | CompilableTool)[]>;

  async close(): Promise<void> {}
}

/** A tool, a set of tools, or an object that is compiled to a tool when the app is built. */
export type ToolUnion = Tool | Toolset | BaseToolset | CompilableTool | RequestTool;
