import { tool } from '../tools/index.ts';
import type { Tool, ToolContext, ToolDefinition, ToolParameters } from '../tools/index.ts';
import type { Compilation, CompiledTool } from './compilation.ts';

/** A function as a tool. The arguments' type follows from `parameters`. */
export class FunctionTool<S extends ToolParameters> implements CompiledTool {
  readonly name: string;
  readonly description: string;
  readonly isLongRunning: boolean;
  readonly #definition: ToolDefinition<S>;

  /** @throws InvalidToolError */
  constructor(definition: ToolDefinition<S>) {
    const { name, description, longRunning } = tool(definition);
    this.name = name;
    this.description = description;
    this.isLongRunning = longRunning;
    this.#definition = definition;
  }

  async compileTool(): Promise<Tool> {
    return tool(this.#definition);
  }
}

/** A tool whose result comes later than its return: what it returns is the first word on it. */
export class LongRunningFunctionTool<S extends ToolParameters> extends FunctionTool<S> {
  constructor(definition: ToolDefinition<S>) {
    super({ ...definition, longRunning: true });
  }
}

/** A tool as a class of your own. */
export abstract class BaseTool implements CompiledTool {
  readonly name: string;
  readonly description: string;
  readonly isLongRunning: boolean;

  constructor(config: {
    readonly name: string;
    readonly description: string;
    readonly isLongRunning?: boolean;
  }) {
    this.name = config.name;
    this.description = config.description;
    this.isLongRunning = config.isLongRunning ?? false;
  }

  /** A schema of one object; no arguments unless overridden. */
  parametersSchema(): ToolParameters | undefined {
    return undefined;
  }

  abstract runAsync(params: {
    readonly args: unknown;
    readonly toolContext: ToolContext;
  }): Promise<unknown>;

  /** @throws InvalidToolError */
  async compileTool(_compilation?: Compilation): Promise<Tool> {
    const parameters = this.parametersSchema();
    return tool<ToolParameters>({
      name: this.name,
      description: this.description,
      longRunning: this.isLongRunning,
      ...(parameters !== undefined && { parameters }),
      execute: async (args, toolContext) => this.runAsync({ args, toolContext }),
    });
  }
}

/** Tools that are opened when the app is built and closed with the runner. */
export abstract class BaseToolset {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  /** Asked once, when the app is built. */
  abstract getTools(): Promise<readonly (Tool | CompiledTool)[]>;

  async close(): Promise<void> {}
}
