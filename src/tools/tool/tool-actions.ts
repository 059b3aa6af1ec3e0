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
 *
 * Actions may also be set, as in ADK: `actions.escalate = true` is `actions.escalate()`, and
 * `actions.transferToAgent = 'billing'` is `actions.transferToAgent('billing')`. `false` and
 * `undefined` request nothing.
 */
export interface Actions {
  /**
   * Transfers the turn to the agent of this name. Applied when all calls of the response have
   * results.
   */
  get transferToAgent(): (name: string) => void;
  set transferToAgent(value: string | undefined);
  /** Leaves the enclosing loop agent. Applied when the agent is done. */
  get escalate(): () => void;
  set escalate(value: boolean | undefined);
  /**
   * Makes the result the final answer: the model is not called again. Applied when all calls of the
   * response have results.
   */
  get skipSummarization(): () => void;
  set skipSummarization(value: boolean | undefined);
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
  const transferToAgent = (name: string) => request('transferToAgent', { transferToAgent: name });
  const escalate = () => request('escalate', { escalate: true });
  const skipSummarization = () => request('skipSummarization', { skipSummarization: true });
  return {
    get transferToAgent(): Actions['transferToAgent'] {
      return transferToAgent;
    },
    set transferToAgent(name: string | undefined) {
      if (name !== undefined) transferToAgent(name);
    },
    get escalate(): Actions['escalate'] {
      return escalate;
    },
    set escalate(value: boolean | undefined) {
      if (value === true) escalate();
    },
    get skipSummarization(): Actions['skipSummarization'] {
      return skipSummarization;
    },
    set skipSummarization(value: boolean | undefined) {
      if (value === true) skipSummarization();
    },
    endInvocation: () => request('endInvocation', { endInvocation: true }),
  };
}
