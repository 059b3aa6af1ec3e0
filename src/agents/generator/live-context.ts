import type { JsonObject } from '../../core/index.ts';
import type { EffectContext } from '../../net/index.ts';
import type { ToolActions, ToolState } from '../../tools/index.ts';
import type { AgentContext } from '../callbacks/agent-context.ts';
import { openCallbackContext } from '../callbacks/callback-context.ts';
import type { OpenedCallbackContext } from '../callbacks/callback-context.ts';
import { liveState } from '../state/live-state.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import type { GeneratorStep } from './generator-step.ts';

/** The members that the contexts of custom agents and of nodes have. */
export interface GeneratorContext extends AgentContext {
  /**
   * The signal of the current step between two yields. Aborts at its timeout, at an interrupt, and at shutdown. This
   * member, `firingId` and `attempt` change with each step: read them from the context when you need them.
   */
  readonly signal: AbortSignal;
  /** Writes are committed with the next yield, and visible to others after it. */
  readonly state: ToolState;
}

/** The inputs of one step of a generator. */
export interface StepInputs<Step extends GeneratorStep> {
  readonly step: Step;
  readonly conversation: readonly ConversationItem[];
  readonly state: JsonObject;
  readonly effect: EffectContext;
}

/** Adds the members of one kind of context. Getters stay getters. */
export type ExtendContext<Step extends GeneratorStep, Context extends GeneratorContext> = (
  first: StepInputs<Step>,
  live: {
    readonly getInputs: () => StepInputs<Step>;
    readonly act: (actions: ToolActions) => void;
  },
) => Omit<Context, keyof GeneratorContext>;

/** The context of a generator: one object for all its steps, whose members always refer to the current step. */
export class LiveContext<Step extends GeneratorStep, Context extends GeneratorContext> {
  readonly context: Context;
  readonly #identity: AgentIdentity;
  #current: { readonly inputs: StepInputs<Step>; readonly opened: OpenedCallbackContext };

  constructor(
    identity: AgentIdentity,
    first: StepInputs<Step>,
    extend: ExtendContext<Step, Context>,
  ) {
    this.#identity = identity;
    this.#current = { inputs: first, opened: this.#open(first) };
    const getOpened = (): OpenedCallbackContext => this.#current.opened;
    const { sessionKey, runConfig, metadata } = getOpened().context;
    const common: GeneratorContext = {
      invocationId: first.step.invocationId,
      sessionKey,
      runConfig,
      metadata,
      get signal() {
        return getOpened().context.signal;
      },
      get firingId() {
        return getOpened().context.firingId;
      },
      get attempt() {
        return getOpened().context.attempt;
      },
      state: liveState(() => getOpened().context.state),
      get artifacts() {
        return getOpened().context.artifacts;
      },
      get memory() {
        return getOpened().context.memory;
      },
    };
    const own = extend(first, {
      getInputs: () => this.#current.inputs,
      act: (actions) => getOpened().act(actions),
    });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `extend` returns the other members of the context
    this.context = Object.defineProperties(
      common,
      Object.getOwnPropertyDescriptors(own),
    ) as Context;
  }

  /** The writes and actions of the current step. */
  get opened(): OpenedCallbackContext {
    return this.#current.opened;
  }

  /** Makes this step the current one. */
  enter(inputs: StepInputs<Step>): OpenedCallbackContext {
    const opened = this.#open(inputs);
    this.#current = { inputs, opened };
    return opened;
  }

  #open({ step, state, effect }: StepInputs<Step>): OpenedCallbackContext {
    return openCallbackContext(this.#identity, step.invocationId, state, effect);
  }
}
