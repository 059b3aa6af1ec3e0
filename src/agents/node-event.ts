import type { Content, Json, Route, StateDelta } from '../core/index.ts';

/** What a node of a workflow says and does at once: all of it counts, or nothing. */
export interface NodeGiven {
  /** For the user, and for whoever hears the node. */
  readonly content?: Content;
  /** For the nodes after it. A node gives one in all its run. */
  readonly output?: Json;
  /** Which of the edges with routes are taken. The last one counts. */
  readonly route?: Route;
  readonly state?: StateDelta;
}

/** What a node yields or returns when it is more than a value. */
export class NodeEvent implements NodeGiven {
  readonly content?: Content;
  readonly output?: Json;
  readonly route?: Route;
  readonly state?: StateDelta;

  constructor({ content, output, route, state }: NodeGiven) {
    if (content !== undefined) this.content = content;
    if (output !== undefined) this.output = output;
    if (route !== undefined) this.route = route;
    if (state !== undefined) this.state = state;
  }
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
