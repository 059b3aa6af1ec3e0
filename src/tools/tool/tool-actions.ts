import { InvalidInputError } from '../../core/index.ts';
import type { EventActions } from '../../core/index.ts';

/** The actions that a tool may set. State changes go through `state`. */
export type ToolActions = Partial<
  Pick<
    EventActions,
    'artifactDelta' | 'skipSummarization' | 'transferToAgent' | 'escalate' | 'renderUiWidgets'
  >
> & {
  /** Stops the turn at once: uncommitted results are dropped, open calls are answered. */
  readonly endInvocation?: boolean;
};

/**
 * What a tool or a callback may request beside its result. A request takes effect when the result
 * is committed, or never.
 */
export interface Actions {
  /**
   * Transfers the turn to the agent of this name. Applied when all calls of the response have
   * results.
   */
  readonly transferToAgent: (name: string) => void;
  /** Leaves the enclosing loop agent. Applied when the agent is done. */
  readonly escalate: () => void;
  /**
   * Makes the result the final answer: the model is not called again. Applied when all calls of the
   * response have results.
   */
  readonly skipSummarization: () => void;
  /** Ends the turn at once: nothing new starts, and uncommitted results of the turn are dropped. */
  readonly endInvocation: () => void;
}

/**
 * Creates actions that pass each request to `act`.
 * @param rejected actions that have no effect in this place, with advice; requesting one throws
 *   `InvalidInputError`
 */
export function createActions(
  act: (actions: ToolActions) => void,
  rejected: Partial<Readonly<Record<keyof Actions, string>>> = {},
): Actions {
  const request = (name: keyof Actions, actions: ToolActions): void => {
    const advice = rejected[name];
    if (advice !== undefined) throw new InvalidInputError(`actions.${name}`, advice);
    act(actions);
  };
  return {
    transferToAgent: (name) => request('transferToAgent', { transferToAgent: name }),
    escalate: () => request('escalate', { escalate: true }),
    skipSummarization: () => request('skipSummarization', { skipSummarization: true }),
    endInvocation: () => request('endInvocation', { endInvocation: true }),
  };
}
