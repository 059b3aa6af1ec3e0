import { PetrichorError } from '../../core/index.ts';

/** How an invocation that asked its models too often says so in its log. */
export const LLM_CALLS_LIMIT = 'llm_calls_limit_exceeded' as const;

/** The invocation asked its models as often as it may. It is over; what it did until then stands in the session. */
export class LlmCallsLimitExceededError extends PetrichorError {
  override readonly code: typeof LLM_CALLS_LIMIT = LLM_CALLS_LIMIT;
  readonly maxLlmCalls: number;

  constructor(maxLlmCalls: number) {
    super(
      `The invocation has made its ${maxLlmCalls} model calls: raise maxLlmCalls in the run config, or find out why it goes on.`,
    );
    this.maxLlmCalls = maxLlmCalls;
  }
}

/** The runner was closed. Make another one. */
export class RunnerClosedError extends PetrichorError {
  override readonly code = 'runner_closed' as const;

  constructor() {
    super('The runner is closed: make a new one over the same session service to go on.');
  }
}

/** A plugin's callback failed. What it was asked about was not done. */
export class PluginError extends PetrichorError {
  override readonly code = 'plugin_failed' as const;
  readonly plugin: string;
  readonly callback: string;

  constructor(plugin: string, callback: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`Plugin "${plugin}" failed in ${callback}: ${reason}`, { cause });
    this.plugin = plugin;
    this.callback = callback;
  }
}
