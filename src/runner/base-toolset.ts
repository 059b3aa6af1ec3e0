import type { Tool, Toolset } from '../tools/index.ts';
import type { CompiledTool, OpenedByRunner } from './compilation.ts';

/** Tools that are opened when the app is built and closed with the runner. */
export abstract class BaseToolset implements OpenedByRunner {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  /** Asked once, when the app is built. */
  abstract getTools(): Promise<readonly (Tool | CompiledTool)[]>;

  async close(): Promise<void> {}
}

/** A tool, a set of tools, or something that becomes one when the app is built. */
export type ToolUnion = Tool | Toolset | BaseToolset | CompiledTool;
