import type { Content, InvocationId, JsonObject, SessionKey } from '../core/index.ts';
import type { EffectContext } from '../net/index.ts';
import type { Actions, ToolArtifacts, ToolMemory, ToolState } from '../tools/index.ts';
import { openCallbackContext } from './callback-context.ts';
import type { OpenedCallbackContext } from './callback-context.ts';
import type { Speaking } from './speaking.ts';
import { liveState } from './live-state.ts';
import type { NodeStep } from './workflow-places.ts';

/** What a node of a workflow has at hand. */
export interface NodeContext {
  readonly nodeName: string;
  /** The runs that led here and this one: `billing-flow/classify@1/refund@1`. */
  readonly nodePath: string;
  readonly runId: string;
  readonly invocationId: InvocationId;
  readonly sessionKey: SessionKey;
  /** The message that began the invocation. */
  readonly userContent: Content | undefined;
  /** Of the step between two yields: it aborts at the timeout, at an interrupt, and at shutdown. */
  readonly signal: AbortSignal;
  /** Stable over retries and crashes. */
  readonly firingId: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** Writes are committed with the next yield; after it, they are seen. */
  readonly state: ToolState;
  readonly artifacts: ToolArtifacts;
  readonly memory: ToolMemory;
  readonly actions: Pick<Actions, 'endInvocation'>;
  /** What was said to what it asked, by the id of the question. */
  readonly resumeInputs: JsonObject;
}

/** What a step of a node finds. */
export interface NodeScopeNow {
  readonly step: NodeStep;
  readonly userContent: Content | undefined;
  readonly state: JsonObject;
  readonly effect: EffectContext;
}

interface Now {
  readonly scope: NodeScopeNow;
  readonly opened: OpenedCallbackContext;
}

/** The context of a node's run: one object for all its steps, which always shows the one that runs now. */
export class NodeScope {
  readonly context: NodeContext;
  readonly #speaking: Speaking;
  #now: Now;

  constructor(speaking: Speaking, first: NodeScopeNow) {
    this.#speaking = speaking;
    this.#now = { scope: first, opened: this.#open(first) };
    const now = (): Now => this.#now;
    const { path, runId, invocationId } = first.step;
    this.context = {
      nodeName: speaking.agentName,
      nodePath: path,
      runId,
      invocationId,
      sessionKey: this.#now.opened.context.sessionKey,
      userContent: first.userContent,
      get signal() {
        return now().opened.context.signal;
      },
      get firingId() {
        return now().opened.context.firingId;
      },
      get attempt() {
        return now().opened.context.attempt;
      },
      state: liveState(() => now().opened.context.state),
      get artifacts() {
        return now().opened.context.artifacts;
      },
      get memory() {
        return now().opened.context.memory;
      },
      actions: { endInvocation: () => now().opened.act({ endInvocation: true }) },
      get resumeInputs() {
        return now().scope.step.answers ?? {};
      },
    };
  }

  /** From here on the context shows this step. */
  enter(scope: NodeScopeNow): OpenedCallbackContext {
    const opened = this.#open(scope);
    this.#now = { scope, opened };
    return opened;
  }

  #open({ step, state, effect }: NodeScopeNow): OpenedCallbackContext {
    return openCallbackContext(this.#speaking, step.invocationId, state, effect);
  }
}
