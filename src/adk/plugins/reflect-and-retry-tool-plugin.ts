import { InvalidInputError, checkOptions, optionTable } from '../../core/index.ts';
import type { Json, JsonObject, OptionTable } from '../../core/index.ts';
import { BasePlugin } from './base-plugin.ts';
import type { ToolInfo } from '../contracts/agent-callbacks.ts';
import type { ToolCallbackContext } from '../contracts/contexts.ts';

/** Options of `ReflectAndRetryToolPlugin`. ADK's plugin of this name. */
export interface ReflectAndRetryToolPluginOptions {
  /** Number of consecutive failures of a tool that the model is asked to reflect on. Default: 3. */
  readonly maxRetries?: number;
  /**
   * After the last retry: `error` returns the tool's own error, `guidance` tells the model not to try again. Default:
   * `error`.
   */
  readonly whenExceeded?: 'error' | 'guidance';
  /** Whether failures are counted per `invocation` or per `session`. Default: `invocation`. */
  readonly scope?: 'invocation' | 'session';
  /** Default: `reflect_and_retry`. */
  readonly name?: string;
}

interface ToolCallParams {
  readonly tool: ToolInfo;
  readonly toolArgs: JsonObject;
  readonly toolContext: ToolCallbackContext;
}

const DEFAULT_MAX_RETRIES = 3;

/** The options of `ReflectAndRetryToolPlugin`. */
export const REFLECT_AND_RETRY_OPTIONS: OptionTable = optionTable<ReflectAndRetryToolPluginOptions>(
  'ReflectAndRetryToolPlugin',
  {
    maxRetries: true,
    whenExceeded: true,
    scope: true,
    name: true,
  },
);

/**
 * Answers a failed call with the error and advice, so that the model reflects before it tries again. The failure count
 * is kept in state and survives a restart.
 */
export class ReflectAndRetryToolPlugin extends BasePlugin {
  readonly #options: ReflectAndRetryToolPluginOptions;
  readonly #maxRetries: number;

  /** @throws InvalidInputError if `maxRetries` is not a whole number of 0 or more */
  constructor(options: ReflectAndRetryToolPluginOptions = {}) {
    if (new.target === ReflectAndRetryToolPlugin) checkOptions(REFLECT_AND_RETRY_OPTIONS, options);
    super(options.name ?? 'reflect_and_retry');
    this.#options = options;
    this.#maxRetries = options.maxRetries ?? DEFAULT_MAX_RETRIES;
    if (!(Number.isInteger(this.#maxRetries) && this.#maxRetries >= 0))
      throw new InvalidInputError('maxRetries', `must be 0 or more; it is ${this.#maxRetries}.`);
  }

  /** Override this to detect an error inside a successful result. A returned value is handled as the tool's failure. */
  async extractErrorFromResult(
    _params: ToolCallParams & { readonly result: JsonObject },
  ): Promise<string | undefined> {
    return undefined;
  }

  override async onToolErrorCallback({
    error,
    ...call
  }: ToolCallParams & { readonly error: Error }): Promise<Json | undefined> {
    return this.#reflect(call, error.message);
  }

  override async afterToolCallback(
    params: ToolCallParams & { readonly result: JsonObject },
  ): Promise<Json | undefined> {
    // This plugin's own answers arrive here as well.
    if (params.result['response_type'] === RESPONSE_TYPE) return undefined;
    const error = await this.extractErrorFromResult(params);
    if (error !== undefined) return this.#reflect(params, error);
    const { state } = params.toolContext;
    const failures = this.#failures(params);
    // Decrement instead of set, so that two concurrent calls both count.
    if (failures > 0) state.increment(this.#key(params), -failures);
    return undefined;
  }

  #reflect({ tool, toolArgs, toolContext }: ToolCallParams, message: string): Json | undefined {
    const call = { tool, toolArgs, toolContext };
    const retry = this.#failures(call) + 1;
    const exceeded = retry > this.#maxRetries;
    if (exceeded && this.#options.whenExceeded !== 'guidance') return undefined;
    toolContext.state.increment(this.#key(call));
    const guidance = exceeded
      ? `"${tool.name}" failed ${retry} times in a row: do not call it again. Find another way, or tell the user what could not be done.`
      : `"${tool.name}" failed. Before calling it again, find out why: are the arguments right and complete, is it the right tool, is something missing first? Do not repeat the same call. Attempt ${retry} of ${this.#maxRetries}.`;
    return {
      response_type: RESPONSE_TYPE,
      error_details: message,
      arguments: toolArgs,
      retry_count: retry,
      reflection_guidance: guidance,
    };
  }

  #failures(call: ToolCallParams): number {
    const count = call.toolContext.state.get(this.#key(call));
    return typeof count === 'number' ? count : 0;
  }

  #key({ tool }: Pick<ToolCallParams, 'tool'>): string {
    const key = `${this.name}:${tool.name}`;
    return this.#options.scope === 'session' ? key : `temp:${key}`;
  }
}

const RESPONSE_TYPE = 'ERROR_HANDLED_BY_REFLECT_AND_RETRY_PLUGIN';
