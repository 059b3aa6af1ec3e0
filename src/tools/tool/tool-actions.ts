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
  return new RequestedActions((name, actions) => {
    const advice = rejected[name];
    if (advice !== undefined) throw new InvalidInputError(`actions.${name}`, advice);
    act(actions);
  });
}

/**
 * A class, because accessors of an object literal are costly: V8 keeps them and what they refer to, here everything of a
 * call, until the next full garbage collection.
 */
class RequestedActions implements Actions {
  readonly #request: (name: keyof Actions, actions: ToolActions) => void;

  constructor(request: (name: keyof Actions, actions: ToolActions) => void) {
    this.#request = request;
  }

  get transferToAgent(): Actions['transferToAgent'] {
    return (name: string) => this.#request('transferToAgent', { transferToAgent: name });
  }

  set transferToAgent(name: string | undefined) {
    if (name !== undefined) this.transferToAgent(name);
  }

  get escalate(): Actions['escalate'] {
    return () => this.#request('escalate', { escalate: true });
  }

  set escalate(value: boolean | undefined) {
    if (value === true) this.escalate();
  }

  get skipSummarization(): Actions['skipSummarization'] {
    return () => this.#request('skipSummarization', { skipSummarization: true });
  }

  set skipSummarization(value: boolean | undefined) {
    if (value === true) this.skipSummarization();
  }

  get endInvocation(): Actions['endInvocation'] {
    return () => this.#request('endInvocation', { endInvocation: true });
  }
}
