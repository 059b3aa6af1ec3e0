import type { Tool, Toolset } from '../../tools/index.ts';
import type { ToolInfo } from '../contracts/agent-callbacks.ts';
import type { CompilableTool, ManagedToolset } from './compile-context.ts';
import type { CallbackContext } from '../contracts/contexts.ts';

/** Which tools of a set an agent may use: by name, or what a function keeps, which is asked each time. */
export type ToolFilter =
  | readonly string[]
  | ((tool: ToolInfo, context: CallbackContext) => boolean);

/** Tools that are opened when the app is built and closed with the runner. */
export abstract class BaseToolset implements ManagedToolset {
  readonly name: string;
  /** A tool it does not keep is not offered, and a call of it is answered with an error. All tools unless given. */
  readonly toolFilter: ToolFilter | undefined;

  constructor(name: string, { toolFilter }: { readonly toolFilter?: ToolFilter } = {}) {
    this.name = name;
    this.toolFilter = toolFilter;
  }

  /** Asked once, when the app is built. */
  abstract getTools(): Promise<readonly (Tool | CompilableTool)[]>;

  async close(): Promise<void> {}
}

/** A tool, a set of tools, or something that becomes one when the app is built. */
export type ToolUnion = Tool | Toolset | BaseToolset | CompilableTool;
