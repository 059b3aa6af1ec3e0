import type { Content, InvocationId, JsonObject, SessionKey } from '../../core/index.ts';
import type { EffectContext } from '../../net/index.ts';
import type { Actions, ToolArtifacts, ToolMemory, ToolState } from '../../tools/index.ts';
import { openCallbackContext } from '../callbacks/callback-context.ts';
import type { OpenedCallbackContext } from '../callbacks/callback-context.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { liveState } from '../state/live-state.ts';
import type { NodeStep } from './workflow-places.ts';

/** The context that a node of a workflow runs with. */
export interface NodeContext {
  readonly nodeName: string;
  /** The path of runs that led to this one, included: `billing-flow/classify@1/refund@1`. */
  readonly nodePath: string;
  readonly runId: string;
  readonly invocationId: InvocationId;
  readonly sessionKey: SessionKey;
  /** The user's message that started the invocation. */
  readonly userContent: Content | undefined;
  /** The signal of the current step between two yields. Aborts at the timeout, at an interrupt, and at shutdown. */
  readonly signal: AbortSignal;
  /** Stable over retries and crashes. */
  readonly firingId: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Writes are committed with the next yield, and visible to others after it. */
  readonly state: ToolState;
  readonly artifacts: ToolArtifacts;
  readonly memory: ToolMemory;
  readonly actions: Pick<Actions, 'endInvocation'>;
  /** The answers to its questions so far, by the id of the question. */
  readonly resumeInputs: JsonObject;
}

/** The inputs of one step of a node. */
export interface NodeStepContext {
  readonly step: NodeStep;
  readonly userContent: Content | undefined;
  readonly state: JsonObject;
  readonly effect: EffectContext;
}

interface CurrentStep {
  readonly context: NodeStepContext;
  readonly opened: OpenedCallbackContext;
}

/** The context of a node's run: one object for all its steps, whose members always refer to the current step. */
export class LiveNodeContext {
  readonly context: NodeContext;
  readonly #identity: AgentIdentity;
  #current: CurrentStep;

  constructor(identity: AgentIdentity, first: NodeStepContext) {
    this.#identity = identity;
    this.#current = { context: first, opened: this.#open(first) };
    const getCurrent = (): CurrentStep => this.#current;
    const { path, runId, invocationId } = first.step;
    this.context = {
      nodeName: identity.agentName,
      nodePath: path,
      runId,
      invocationId,
      sessionKey: this.#current.opened.context.sessionKey,
      userContent: first.userContent,
      get signal() {
        return getCurrent().opened.context.signal;
      },
      get firingId() {
        return getCurrent().opened.context.firingId;
      },
      get attempt() {
        return getCurrent().opened.context.attempt;
      },
      state: liveState(() => getCurrent().opened.context.state),
      get artifacts() {
        return getCurrent().opened.context.artifacts;
      },
      get memory() {
        return getCurrent().opened.context.memory;
      },
      actions: { endInvocation: () => getCurrent().opened.act({ endInvocation: true }) },
      get resumeInputs() {
        return getCurrent().context.step.answers ?? {};
      },
    };
  }

  /** Makes this step the current one. */
  enterStep(context: NodeStepContext): OpenedCallbackContext {
    const opened = this.#open(context);
    this.#current = { context, opened };
    return opened;
  }

  #open({ step, state, effect }: NodeStepContext): OpenedCallbackContext {
    return openCallbackContext(this.#identity, step.invocationId, state, effect);
  }
}
