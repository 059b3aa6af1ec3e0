import { InvalidInputError } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import { BasePlugin } from './base-plugin.ts';
import type { ToolInfo } from '../contracts/agent-callbacks.ts';
import type { ToolCallbackContext } from '../contracts/contexts.ts';

/** How patient the plugin is with a tool that fails, and what comes after. ADK's `ReflectAndRetryToolPlugin`. */
export interface ReflectAndRetryToolPluginOptions {
  /** How often in a row a tool may fail and the model be asked to think about it; 3 unless given. */
  readonly maxRetries?: number;
  /** When the retries are used up: the tool's own `error`, or `guidance` not to try again. `error` unless given. */
  readonly whenExceeded?: 'error' | 'guidance';
  /** Whether failures are counted for the `invocation`, or for the `session`; `invocation` unless given. */
  readonly scope?: 'invocation' | 'session';
  /** `reflect_and_retry` unless given. */
  readonly name?: string;
}

interface ToolCallParams {
  readonly tool: ToolInfo;
  readonly toolArgs: JsonObject;
  readonly toolContext: ToolCallbackContext;
}

const DEFAULT_MAX_RETRIES = 3;

/**
 * Answers a call that failed with what went wrong and how to go about it, so that the model thinks before it tries again.
 * How often it did is kept in state: a restart does not begin to count anew.
 */
export class ReflectAndRetryToolPlugin extends BasePlugin {
  readonly #options: ReflectAndRetryToolPluginOptions;
  readonly #maxRetries: number;

  /** @throws InvalidInputError */
  constructor(options: ReflectAndRetryToolPluginOptions = {}) {
    super(options.name ?? 'reflect_and_retry');
    this.#options = options;
    this.#maxRetries = options.maxRetries ?? DEFAULT_MAX_RETRIES;
    if (!(Number.isInteger(this.#maxRetries) && this.#maxRetries >= 0))
      throw new InvalidInputError('maxRetries', `must be 0 or more; it is ${this.#maxRetries}.`);
  }

  /** Override it to see an error in a result that says it is none. What it returns is handled as the tool's failure. */
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
    // What this plugin answered itself comes by here as well.
    if (params.result['response_type'] === RESPONSE_TYPE) return undefined;
    const error = await this.extractErrorFromResult(params);
    if (error !== undefined) return this.#reflect(params, error);
    const { state } = params.toolContext;
    const failures = this.#failures(params);
    // Taken away, not set: of two calls at once each counts.
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
