import { InvalidInputError } from '../../core/index.ts';
import type { EventActions } from '../../core/index.ts';

/** The actions that are a tool's to set. State is changed by `state`. */
export type ToolActions = Partial<
  Pick<
    EventActions,
    'artifactDelta' | 'skipSummarization' | 'transferToAgent' | 'escalate' | 'renderUiWidgets'
  >
> & {
  /** The turn stops at once: what is not committed yet is dropped, open calls are answered. */
  readonly endInvocation?: boolean;
};

/** What a tool or a callback may ask for beside its result. It counts when the result does: with its commit, or never. */
export interface Actions {
  /** The agent of this name goes on with the turn. Read when all calls of the answer have their results. */
  readonly transferToAgent: (name: string) => void;
  /** Leaves the loop around the agent. Read by that loop, when the agent is done. */
  readonly escalate: () => void;
  /** The result is the answer: the model is not asked to say it again. Read when all calls of the answer have their results. */
  readonly skipSummarization: () => void;
  /** Ends the turn now. Read at once: nothing starts any more, and what others of the turn have not committed is dropped. */
  readonly endInvocation: () => void;
}

/**
 * Actions that call `act` with what was asked for.
 * @param rejected actions that nobody would take there, with what to do instead: asking for one throws InvalidInputError
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
