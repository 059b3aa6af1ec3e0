import type { Content, Json, Route, StateDelta } from '../../core/index.ts';
import type { RequestedActions, ShownActions } from '../callbacks/parse-actions.ts';
import type { YieldedEvent } from '../custom/custom-generator.ts';

/** What a node of a workflow says and does at once: all of it counts, or nothing. */
export interface NodeResult {
  /** For the user, and for whoever hears the node. */
  readonly content?: Content;
  /** For the nodes after it. A node gives one in all its run. */
  readonly output?: Json;
  /** Which of the edges with routes are taken. The last one counts. */
  readonly route?: Route;
  readonly state?: StateDelta;
  /** What is asked for beside that. Its `stateDelta` and `route` are other spellings of `state` and `route`. */
  readonly actions?: RequestedActions;
}

/** What a node yields or returns when it is more than a value. */
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

/** What a node gave, its actions read. */
export interface ParsedNodeResult extends Omit<NodeResult, 'actions'> {
  readonly shown?: ShownActions;
  readonly endInvocation?: boolean;
}

/** The same event as a custom agent yields it. */
export function toYieldedEvent({
  content,
  output,
  route,
  state,
  actions,
}: NodeEvent): YieldedEvent {
  return {
    ...(content !== undefined && { content }),
    ...(output !== undefined && { output }),
    actions: {
      ...actions,
      ...(state !== undefined && { stateDelta: { ...actions?.stateDelta, ...state } }),
      ...(route !== undefined && { route }),
    },
  };
}

/** What a node yields or returns to ask someone outside: the workflow waits for the answer as a token. */
export class RequestInput {
  readonly message: string | undefined;
  readonly payload: Json | undefined;
  /** Names the question and its answer: no other of the session may have it. Made up unless given. */
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
