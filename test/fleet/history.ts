/** What clients of a fleet did and saw. Times are milliseconds of one monotonic clock. */

interface Operation {
  readonly session: string;
  readonly startedAt: number;
  /** Undefined: no response came, so the operation may have had an effect or none, at any later time. */
  readonly endedAt: number | undefined;
}

/** A message. No two have the same text. */
export interface Send extends Operation {
  readonly kind: 'send';
  readonly text: string;
}

export type Decision = 'allow' | 'deny';

/** An answer to a call that waits for approval. The first decision counts; a repetition of it is accepted too. */
export interface Answer extends Operation {
  readonly kind: 'answer';
  readonly callId: string;
  readonly decision: Decision;
  /** `refused`: the call had been answered otherwise. Without a response, `unknown`. */
  readonly outcome: 'accepted' | 'refused' | 'unknown';
}

/** The events that a reader received, in order. It began at the first event of the session. */
export interface View {
  readonly session: string;
  readonly reader: string;
  readonly events: readonly { readonly id: string; readonly receivedAt: number }[];
}

export interface History {
  readonly operations: readonly (Send | Answer)[];
  readonly views: readonly View[];
}

/** An event of the final log of a session. */
export interface LoggedEvent {
  readonly id: string;
  /** Of a message: its text. */
  readonly text?: string;
  /** Of an answer: the call, and how it was decided. */
  readonly answer?: { readonly callId: string; readonly decision: Decision };
}

/** The final logs by session. */
export type FinalLogs = ReadonlyMap<string, readonly LoggedEvent[]>;
