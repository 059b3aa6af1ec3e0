import { omitUndefined } from '../../core/internal.ts';
import { tool } from '../../tools/index.ts';
import type { Tool, ToolParameters } from '../../tools/index.ts';
import type { CompileContext, CompilableTool, ToolRequestParams } from './compile-context.ts';
import { activeLiveSessions } from '../live/active-live-sessions.ts';
import { createFunctionToolContext } from './function-tool-context.ts';
import type { FunctionToolContext } from './function-tool-context.ts';
import { toNamedDefinition } from './function-tool-definition.ts';
import type { FunctionToolDefinition, NamedToolDefinition } from './function-tool-definition.ts';
import { fromGeminiSchema } from './gemini-schema.ts';
import { isAsyncGeneratorFunction, runFunctionTool, runStreamingTool } from './streaming-tool.ts';

/** A function as a tool. The type of the arguments is inferred from `parameters`. */
export class FunctionTool<S extends ToolParameters> implements CompilableTool {
  readonly name: string;
  readonly description: string;
  readonly isLongRunning: boolean;
  readonly #definition: NamedToolDefinition<S>;

  /** @throws InvalidToolError, UnknownFieldError */
  constructor(given: FunctionToolDefinition<S>) {
    const definition = toNamedDefinition(given);
    const { execute, ...rest } = definition;
    const { name, description, longRunning } = tool<S>({
      ...rest,
      ...(execute !== undefined && { execute: () => undefined }),
    });
    this.name = name;
    this.description = description;
    this.isLongRunning = longRunning;
    this.#definition = definition;
  }

  async compileTool({ credentials }: CompileContext): Promise<Tool> {
    const { execute, ...rest } = this.#definition;
    const isStreaming = isAsyncGeneratorFunction(execute);
    const run = isStreaming ? runStreamingTool : runFunctionTool;
    const compiled = tool<S>({
      ...rest,
      ...(execute !== undefined && {
        execute: async (args, context) =>
          toAdkResult(
            await run({
              execute: (functionContext) => execute(args, functionContext),
              context: createFunctionToolContext(context, rest.name, credentials),
              toolName: rest.name,
              live: activeLiveSessions.find(context.firingId),
            }),
            this.isLongRunning,
          ),
      }),
    });
    return isStreaming ? { ...compiled, nonBlocking: true } : compiled;
  }
}

/** The result of a tool, as ADK shows it to models. A long-running tool without a result waits for it. */
function toAdkResult(returned: unknown, isLongRunning: boolean): unknown {
  if (Array.isArray(returned)) return { results: returned };
  return returned === undefined && !isLongRunning ? {} : returned;
}

/** A tool whose final result arrives later. Its return value is the initial result. */
export class LongRunningFunctionTool<S extends ToolParameters> extends FunctionTool<S> {
  constructor(definition: FunctionToolDefinition<S>) {
    super({ ...definition, longRunning: true });
  }
}

/** Base class for tools written as a class. */
export abstract class BaseTool implements CompilableTool {
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

  /** The schema of the arguments, an object schema. Default: no arguments. */
  parametersSchema(): ToolParameters | undefined {
    return undefined;
  }

  /** Changes a request to the model before it is sent. Default: none. */
  processLlmRequest?(params: ToolRequestParams): void | Promise<void>;

  abstract runAsync(params: {
    readonly args: unknown;
    readonly toolContext: FunctionToolContext;
  }): Promise<unknown>;

  /** @throws InvalidToolError if the name or the schema is invalid */
  async compileTool({ credentials }: CompileContext): Promise<Tool> {
    const schema = this.parametersSchema();
    const parameters = schema && fromGeminiSchema(schema);
    return tool<ToolParameters>({
      name: this.name,
      description: this.description,
      longRunning: this.isLongRunning,
      ...omitUndefined({ parameters }),
      execute: async (args, context) =>
        toAdkResult(
          await this.runAsync({
            args,
            toolContext: createFunctionToolContext(context, this.name, credentials),
          }),
          this.isLongRunning,
        ),
    });
  }
}
