import { InvalidInputError } from '../core/index.ts';
import type { EventActions } from '../core/index.ts';

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
 * @param refused actions that nobody would take there, with what to do instead: asking for one throws InvalidInputError
 */
export function actionsOf(
  act: (actions: ToolActions) => void,
  refused: Partial<Readonly<Record<keyof Actions, string>>> = {},
): Actions {
  const ask = (name: keyof Actions, actions: ToolActions): void => {
    const advice = refused[name];
    if (advice !== undefined) throw new InvalidInputError(`actions.${name}`, advice);
    act(actions);
  };
  return {
    transferToAgent: (name) => ask('transferToAgent', { transferToAgent: name }),
    escalate: () => ask('escalate', { escalate: true }),
    skipSummarization: () => ask('skipSummarization', { skipSummarization: true }),
    endInvocation: () => ask('endInvocation', { endInvocation: true }),
  };
}
