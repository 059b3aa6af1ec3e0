import { checkOptions, InvalidInputError, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { describeValue, omitUndefined } from '../../core/internal.ts';
import type { JsonSchema, ToolDeclaration } from '../../models/index.ts';
import { indexTools } from './index-tools.ts';
import { tool } from './tool.ts';
import type { Tool } from './tool.ts';

/**
 * A tool of the client that sends a message. The model is offered it in the turn of the message. A call of it waits, also
 * over a restart, until the client answers it with the result.
 */
export type ClientTool = {
  /** 1 to 64 characters of `[A-Za-z0-9_-]`. A tool of the agent with the same name takes precedence. */
  readonly name: string;
  /** Sent to the model. Default: none. */
  readonly description?: string;
  /** A JSON Schema of an object. Default: no arguments. */
  readonly parameters?: JsonSchema;
  /** How long a call waits for its result, in milliseconds. Default: it waits until it is answered. */
  readonly timeoutMs?: number;
};

const CLIENT_TOOL: OptionTable = optionTable<ClientTool>(
  'clientTools',
  { name: true, description: true, parameters: true, timeoutMs: true },
  { inputSchema: 'parameters', input_schema: 'parameters', timeout_ms: 'timeoutMs' },
);

const MAX_CLIENT_TOOLS = 256;

/**
 * Checks the tools that come with a message. Undefined if there are none.
 * @throws InvalidToolError, DuplicateToolError for a tool that a model cannot be offered; UnknownFieldError
 * @throws InvalidInputError for a value that is not a list of tools, or has too many
 */
export function checkClientTools(
  tools: readonly ClientTool[] | undefined,
): readonly ClientTool[] | undefined {
  if (tools === undefined) return undefined;
  if (!Array.isArray(tools))
    throw new InvalidInputError('clientTools', `must be a list; it is ${describeValue(tools)}.`);
  if (tools.length > MAX_CLIENT_TOOLS)
    throw new InvalidInputError(
      'clientTools',
      `must be at most ${MAX_CLIENT_TOOLS} tools; there are ${tools.length}.`,
    );
  for (const one of tools) checkOptions(CLIENT_TOOL, one);
  indexTools(tools.map(toTool));
  return tools.length === 0 ? undefined : tools;
}

/** The tools of an agent and of a client. */
export function withClientTools(
  tools: ReadonlyMap<string, Tool>,
  clientTools: readonly ClientTool[] | undefined,
): ReadonlyMap<string, Tool> {
  if (clientTools === undefined) return tools;
  return new Map([...clientTools.map((one) => [one.name, toTool(one)] as const), ...tools]);
}

/** The declarations of an agent's tools and of a client's. */
export function withClientDeclarations(
  declarations: readonly ToolDeclaration[],
  clientTools: readonly ClientTool[] | undefined,
): readonly ToolDeclaration[] {
  if (clientTools === undefined) return declarations;
  const own = new Set(declarations.map(({ name }) => name));
  return [
    ...declarations,
    ...clientTools.filter(({ name }) => !own.has(name)).map((one) => toTool(one).declaration),
  ];
}

function toTool({ name, description = '', parameters, timeoutMs }: ClientTool): Tool {
  return {
    ...tool({ name, description, ...omitUndefined({ parameters, timeoutMs }) }),
    origin: { kind: 'custom' },
    timeoutMs: timeoutMs ?? Infinity,
  };
}
