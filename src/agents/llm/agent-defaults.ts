/** Defaults of the options of `agent()`. */

/** How often the model may be called again after tools in one turn. */
export const DEFAULT_REASK_BUDGET = 25;

/** Attempts of one model call, the first included. */
export const DEFAULT_MODEL_ATTEMPTS = 4;

/** The timeout of one attempt, in milliseconds. */
export const DEFAULT_MODEL_TIMEOUT_MS = 300_000;

/** The message of the agent when a turn has used its budget. */
export const DEFAULT_BUDGET_MESSAGE: string =
  'I stopped here: this turn has used all its steps. Tell me how to continue.';
