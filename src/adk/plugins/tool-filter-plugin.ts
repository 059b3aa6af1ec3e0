import { TRANSFER_TOOL } from '../../agents/index.ts';
import type { Json } from '../../core/index.ts';
import { BasePlugin } from './base-plugin.ts';
import type { ToolInfo, LlmRequest } from '../contracts/agent-callbacks.ts';
import type { CallbackContext, ToolCallbackContext } from '../contracts/contexts.ts';

/** Which tools stay; what is not kept is neither offered nor run, save the transfer to another agent. */
export interface ToolFilterPluginOptions {
  /** The tools that agents may use: by name, or what a function keeps, which is asked each time. */
  readonly keep: readonly string[] | ((tool: ToolInfo, context: CallbackContext) => boolean);
  /** `tool_filter` unless given. */
  readonly name?: string;
}

/**
 * Offers the models of the app some of their agents' tools. A call of another one is answered with an error. To hand the
 * turn to another agent is always allowed.
 */
export class ToolFilterPlugin extends BasePlugin {
  readonly #isAllowed: (tool: ToolInfo, context: CallbackContext) => boolean;

  constructor({ keep, name = 'tool_filter' }: ToolFilterPluginOptions) {
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
      error: { code: 'not_found', message: `The tool "${tool.name}" may not be used here.` },
    };
  }
}
