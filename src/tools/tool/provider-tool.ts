import { checkDefinition, describeValue, optionTable } from '../../core/internal.ts';
import { isJsonObject, type JsonObject, type OptionTable } from '../../core/index.ts';
import type { ProviderToolDeclaration } from '../../models/index.ts';
import { InvalidToolError } from '../schema/invalid-tool-error.ts';
import { ToolFailedError } from './tool-failed-error.ts';
import { tool, type Tool } from './tool.ts';

/** A tool that the provider of the model runs. */
export interface ProviderToolDefinition {
  /**
   * The provider and its name of the tool, as in the provider's AI SDK package: `google.google_search`,
   * `anthropic.web_search_20250305`, `openai.web_search`.
   */
  readonly id: string;
  /** The name of the tool in the agent. Default: the name in `id`, without its date. */
  readonly name?: string;
  /**
   * Options of the tool, in the spelling of the provider's AI SDK package, such as `{ maxUses: 3 }`. They are part of the
   * request, so they must not contain secrets. Default: none.
   */
  readonly args?: JsonObject;
}

/** The options of `providerTool`. */
export const PROVIDER_TOOL_OPTIONS: OptionTable = optionTable<ProviderToolDefinition>(
  'providerTool',
  {
    id: true,
    name: true,
    args: true,
  },
);

/**
 * Creates a tool that the provider of the model runs itself, such as its web search or its code execution. The provider's
 * calls and their results are parts of the model's message: they are in the log and the journal, and
 * `getProviderToolCalls` lists them. Petrichor neither runs nor approves them. A model of another provider rejects the
 * request with `UnsupportedFeatureError`.
 * @throws InvalidToolError if `id` is not `provider.tool`, or `args` is not an object
 * @throws InvalidInputError if `definition` is not an object
 */
export function providerTool(definition: ProviderToolDefinition): Tool {
  checkDefinition(PROVIDER_TOOL_OPTIONS, definition);
  const { id, args = {}, name = defaultName(id) } = definition;
  const declared = tool({
    name,
    description: `A tool of the model's provider: ${id}`,
    readOnly: true,
    execute: () => {
      throw new ToolFailedError(`${name} is run by the provider of the model, not by the agent.`);
    },
  });
  return withProviderDeclaration(declared, { id, args });
}

/**
 * Declares a tool to the model as a tool of its provider. The rest of the tool does not change.
 * @throws InvalidToolError if `id` is not `provider.tool`, or `args` is not an object
 */
export function withProviderDeclaration(own: Tool, { id, args }: ProviderToolDeclaration): Tool {
  if (!isProviderToolId(id))
    throw new InvalidToolError(
      own.name,
      `its id must be a provider and a tool, such as "google.google_search"; it is ${describeValue(id)}.`,
    );
  if (!isJsonObject(args))
    throw new InvalidToolError(
      own.name,
      `its args must be an object; it is ${describeValue(args)}.`,
    );
  return { ...own, declaration: { ...own.declaration, provider: { id, args } } };
}

function isProviderToolId(id: unknown): boolean {
  return typeof id === 'string' && /^[\w-]+\.[\w.-]+$/.test(id);
}

/** The name of the tool without the provider and the date of its version. */
function defaultName(id: unknown): string {
  return String(id)
    .replace(/^[^.]*\./, '')
    .replace(/_\d{8}$/, '')
    .replaceAll('.', '_');
}
