import { checkDefinition } from '../../core/internal.ts';
import { optionTable } from '../../core/index.ts';
import { TRANSFER_TOOL } from '../../agents/index.ts';
import type { Json, OptionTable } from '../../core/index.ts';
import { BasePlugin } from './base-plugin.ts';
import type { ToolInfo, LlmRequest } from '../contracts/agent-callbacks.ts';
import type { CallbackContext, ToolCallbackContext } from '../contracts/contexts.ts';

/** Options of `ToolFilterPlugin`. */
export interface ToolFilterPluginOptions {
  /**
   * The tools that agents may use: their names, or a function that is called each time. Transfer to another agent is
   * always allowed.
   */
  readonly keep: readonly string[] | ((tool: ToolInfo, context: CallbackContext) => boolean);
  /** Default: `tool_filter`. */
  readonly name?: string;
}

/** The options of `ToolFilterPlugin`. */
export const TOOL_FILTER_OPTIONS: OptionTable = optionTable<ToolFilterPluginOptions>(
  'ToolFilterPlugin',
  {
    keep: true,
    name: true,
  },
);

/**
 * Restricts the tools of the app's agents. A tool that is not kept is not offered, and a call of it is answered with an
 * error. Transfer to another agent is always allowed.
 */
export class ToolFilterPlugin extends BasePlugin {
  readonly #isAllowed: (tool: ToolInfo, context: CallbackContext) => boolean;

  constructor(options: ToolFilterPluginOptions) {
    if (new.target === ToolFilterPlugin) checkDefinition(TOOL_FILTER_OPTIONS, options);
    const { keep, name = 'tool_filter' } = options;
    super(name);
    this.#isAllowed = typeof keep === 'function' ? keep : (tool) => keep.includes(tool.name);
  }

  override async beforeModelCallback({
    callbackContext,
    llmRequest,
  }: {
    readonly callbackContext: CallbackContext;
    readonly llmRequest: LlmRequest;
  }): Promise<undefined> {
    llmRequest.tools = llmRequest.tools.filter(
      (tool) => tool.name === TRANSFER_TOOL || this.#isAllowed(tool, callbackContext),
    );
  }

  override async beforeToolCallback({
    tool,
    toolContext,
  }: {
    readonly tool: ToolInfo;
    readonly toolArgs: Record<string, Json>;
    readonly toolContext: ToolCallbackContext;
  }): Promise<Json | undefined> {
    if (this.#isAllowed(tool, toolContext)) return undefined;
    return {
      error: { code: 'not_found', message: `The tool "${tool.name}" is not available here.` },
    };
  }
}
