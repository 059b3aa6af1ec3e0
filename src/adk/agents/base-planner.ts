import type { Part } from '../../core/index.ts';
import type { LlmRequest } from '../contracts/agent-callbacks.ts';
import type { CallbackContext } from '../contracts/contexts.ts';

/** Makes a model plan before it acts: it adds to what the model is told, and reads its answers. */
export abstract class BasePlanner {
  /** What is told to the model beside the agent's instruction. It may change the request in place as well. */
  abstract buildPlanningInstruction(params: {
    readonly context: CallbackContext;
    readonly request: LlmRequest;
  }): string | undefined;

  /** The parts of an answer as they are to count; nothing to leave them as they are. */
  abstract processPlanningResponse(params: {
    readonly context: CallbackContext;
    readonly parts: readonly Part[];
  }): readonly Part[] | undefined;
}
