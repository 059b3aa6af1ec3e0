import { contentText } from '../../core/index.ts';
import type { LogEvent, LoggedError, PartialEvent, Seq, StopReason } from '../../core/index.ts';

/** Where a turn stopped in the log: its end, or a wait of this turn or of the turn that it is queued behind. */
export interface TurnStopEvent {
  readonly seq: Seq;
  readonly stopReason: StopReason;
  /** True for a wait of an earlier turn. */
  readonly isQueued: boolean;
}

/** Reads how a turn stopped, and its last message and error, from the events of the turn. */
export class TurnReader {
  readonly #turn: { readonly invocationId: string };
  #text = '';
  #error: LoggedError | undefined;
  #stop: TurnStopEvent | undefined;

  /** @param turn its `invocationId` is read with the first event */
  constructor(turn: { readonly invocationId: string }) {
    this.#turn = turn;
  }

  /** The text of the last message that is not empty. */
  get text(): string {
    return this.#text;
  }

  get error(): LoggedError | undefined {
    return this.#error;
  }

  /** The last stop. Undefined while the turn runs. */
  get stop(): TurnStopEvent | undefined {
    return this.#stop;
  }

  add(event: LogEvent | PartialEvent): void {
    if (!('seq' in event) || !('invocationId' in event)) return;
    const isOwn = event.invocationId === this.#turn.invocationId;
    if (event.type === 'turn.waiting') {
      this.#stop = { seq: event.seq, stopReason: event.stopReason, isQueued: !isOwn };
      return;
    }
    if (!isOwn) return;
    this.#stop = undefined;
    if (event.type === 'agent.message' && event.content.parts.length > 0)
      this.#text = contentText(event.content);
    if (event.type === 'error') this.#error = { code: event.code, message: event.message };
    if (event.type === 'turn.ended')
      this.#stop = { seq: event.seq, stopReason: event.stopReason, isQueued: false };
  }
}
