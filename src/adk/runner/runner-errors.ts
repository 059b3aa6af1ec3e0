import { PetrichorError } from '../../core/index.ts';

/** Error code in the log of an invocation that exceeded `maxLlmCalls`. */
export const LLM_CALLS_LIMIT = 'llm_calls_limit_exceeded' as const;

/**
 * An invocation used all its model calls and is over. Everything it committed stays in the session.
 * @remedy Raise `maxLlmCalls` in the run config, or find out why the invocation needs so many.
 */
export class LlmCallsLimitExceededError extends PetrichorError {
  override readonly code: typeof LLM_CALLS_LIMIT = LLM_CALLS_LIMIT;
  readonly maxLlmCalls: number;

  constructor(maxLlmCalls: number) {
    super(
      `The invocation reached its limit of ${maxLlmCalls} model calls: raise maxLlmCalls in the run config, or find out why it needs so many.`,
    );
    this.maxLlmCalls = maxLlmCalls;
  }
}

/**
 * A runner was used after `close`.
 * @remedy Create a new runner over the same session service.
 */
export class RunnerClosedError extends PetrichorError {
  override readonly code = 'runner_closed' as const;

  constructor() {
    super('The runner is closed: create a new one over the same session service.');
  }
}
