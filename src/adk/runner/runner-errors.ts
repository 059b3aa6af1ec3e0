import { PetrichorError } from '../../core/index.ts';

/** Error code in the log of an invocation that exceeded `maxLlmCalls`. */
export const LLM_CALLS_LIMIT = 'llm_calls_limit_exceeded' as const;

/** The invocation used all its model calls and is over. Everything it committed stays in the session. */
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

/** The runner is closed. Create a new one. */
export class RunnerClosedError extends PetrichorError {
  override readonly code = 'runner_closed' as const;

  constructor() {
    super('The runner is closed: create a new one over the same session service.');
  }
}
