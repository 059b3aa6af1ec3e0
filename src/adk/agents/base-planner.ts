import type { Part } from '../../core/index.ts';
import type { LlmRequest } from '../contracts/agent-callbacks.ts';
import type { CallbackContext } from '../contracts/contexts.ts';

/** Makes a model plan before it acts: extends the request and processes the answers. */
export abstract class BasePlanner {
  /** Returns text to add to the agent's instruction. It may also change the request in place. */
  abstract buildPlanningInstruction(params: {
    readonly context: CallbackContext;
    readonly request: LlmRequest;
  }): string | undefined;

  /** Returns the parts of an answer to use, or `undefined` to keep them. */
  abstract processPlanningResponse(params: {
    readonly context: CallbackContext;
    readonly parts: readonly Part[];
  }): readonly Part[] | undefined;
}
