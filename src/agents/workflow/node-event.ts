import { omitUndefined } from '../../core/internal.ts';
import type { Content, Json, Route, StateDelta } from '../../core/index.ts';
import type { RequestedActions, ShownActions } from '../callbacks/parse-actions.ts';
import type { YieldedEvent } from '../custom/custom-generator.ts';

/** The members of a node's event. All of it is committed at once, or nothing. */
export interface NodeResult {
  /** A message for the user and for agents that see the node's branch. */
  readonly content?: Content;
  /** The input of the next nodes. A node may give one output per run. */
  readonly output?: Json;
  /** Selects the edges with routes to follow. The last route of a run counts. */
  readonly route?: Route;
  readonly state?: StateDelta;
  /** Requested actions. Its `stateDelta` and `route` are aliases of `state` and `route`. */
  readonly actions?: RequestedActions;
}

/** A value that a node yields or returns when it is more than an output. */
export class NodeEvent implements NodeResult {
  readonly content?: Content;
  readonly output?: Json;
  readonly route?: Route;
  readonly state?: StateDelta;
  readonly actions?: RequestedActions;

  constructor({ content, output, route, state, actions }: NodeResult) {
    if (content !== undefined) this.content = content;
    if (output !== undefined) this.output = output;
    if (route !== undefined) this.route = route;
    if (state !== undefined) this.state = state;
    if (actions !== undefined) this.actions = actions;
  }
}

/** A validated result of a node, with its actions parsed. */
export interface ParsedNodeResult extends Omit<NodeResult, 'actions'> {
  readonly shown?: ShownActions;
  readonly endInvocation?: boolean;
}

/** Converts the event to the form that a custom agent yields. */
export function toYieldedEvent({
  content,
  output,
  route,
  state,
  actions,
}: NodeEvent): YieldedEvent {
  return {
    ...omitUndefined({ content, output }),
    actions: {
      ...actions,
      ...omitUndefined({
        stateDelta: state === undefined ? undefined : { ...actions?.stateDelta, ...state },
        route,
      }),
    },
  };
}

/** A value that a node yields or returns to ask a question. The workflow waits for the answer as a parked call. */
export class RequestInput {
  readonly message: string | undefined;
  readonly payload: Json | undefined;
  /** Identifies the question. Must be unique in the session. Default: derived from the firing id. */
  readonly interruptId: string | undefined;

  constructor({
    message,
    payload,
    interruptId,
  }: {
    readonly message?: string;
    readonly payload?: Json;
    readonly interruptId?: string;
  } = {}) {
    this.message = message;
    this.payload = payload;
    this.interruptId = interruptId;
  }
}
