import { checkDefinition } from '../../core/internal.ts';
import { optionTable, checkOptions } from '../../core/index.ts';
import type { Content, Json, Route, StateDelta, OptionTable } from '../../core/index.ts';
import type { RequestedActions } from '../callbacks/parse-actions.ts';
import type { Ending } from '../vocabulary/turn.ts';

/** A value that a custom agent yields: a message, an event, or the run of a sub-agent. */
export type CustomYield = string | Content | YieldedEvent | SubAgentRun;

/** An event that a custom agent or a node yields. All of it is committed at once, or nothing. */
export interface YieldedEvent {
  /** A message for the user and for agents that see the branch. */
  readonly content?: Content;
  /** The input of the next nodes. The last output of a custom agent counts; a node may give one output per run. */
  readonly output?: Json;
  /** Selects the edges with routes to follow. The last route of a run counts. */
  readonly route?: Route;
  readonly state?: StateDelta;
  /** Requested actions. Its `stateDelta` and `route` are aliases of `state` and `route`. */
  readonly actions?: RequestedActions;
}

/** A request to run a sub-agent. Made by `context.run`. */
export interface SubAgentRun {
  readonly runs: string;
}

/** The reply to the yield of a sub-agent run: how the sub-agent ended. */
export type CustomReply = Pick<Ending, 'stopReason' | 'escalate'>;

/**
 * The generator that a custom agent's `run` returns. It resumes when its yield is committed. The yield expression returns
 * a reply for a sub-agent run, and undefined otherwise.
 */
export type CustomGenerator = AsyncGenerator<CustomYield, void, CustomReply | undefined>;

/** The options of `NodeEvent`. */
export const YIELDED_EVENT: OptionTable = optionTable<YieldedEvent>('NodeEvent', {
  content: true,
  output: true,
  route: true,
  state: true,
  actions: true,
});

/** A value that a node yields or returns when it is more than an output. */
export class NodeEvent implements YieldedEvent {
  readonly content?: Content;
  readonly output?: Json;
  readonly route?: Route;
  readonly state?: StateDelta;
  readonly actions?: RequestedActions;

  constructor(event: YieldedEvent) {
    if (new.target === NodeEvent) checkDefinition(YIELDED_EVENT, event);
    const { content, output, route, state, actions } = event;
    if (content !== undefined) this.content = content;
    if (output !== undefined) this.output = output;
    if (route !== undefined) this.route = route;
    if (state !== undefined) this.state = state;
    if (actions !== undefined) this.actions = actions;
  }
}

/** Options of `RequestInput`. */
export interface RequestInputOptions {
  readonly message?: string;
  readonly payload?: Json;
  /** Identifies the question. Must be unique in the session. Default: derived from the firing id. */
  readonly interruptId?: string;
}

/** The options of `RequestInput`. */
export const REQUEST_INPUT_OPTIONS: OptionTable = optionTable<RequestInputOptions>('RequestInput', {
  message: true,
  payload: true,
  interruptId: true,
});

/** A value that a node yields or returns to ask a question. The workflow waits for the answer as a parked call. */
export class RequestInput {
  readonly message: string | undefined;
  readonly payload: Json | undefined;
  /** Identifies the question. Must be unique in the session. Default: derived from the firing id. */
  readonly interruptId: string | undefined;

  constructor(options: RequestInputOptions = {}) {
    if (new.target === RequestInput) checkOptions(REQUEST_INPUT_OPTIONS, options);
    const { message, payload, interruptId } = options;
    this.message = message;
    this.payload = payload;
    this.interruptId = interruptId;
  }
}
