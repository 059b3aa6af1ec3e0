import type { LogEvent, PartialEvent } from '../../core/index.ts';
import type { PendingCall } from '../../runtime/index.ts';
import type { SessionRow } from '../../store/index.ts';

/** The session of a chat. */
export interface ChatFacts {
  readonly session: string;
  readonly user: string;
  readonly agent: string;
  readonly store: string;
  /** The stored session; undefined for a new one. */
  readonly found: SessionRow | undefined;
  /**
   * Other sessions of this user and agent that are not idle. Empty if the session was chosen by id.
   */
  readonly unfinished: readonly string[];
}

/** How a chat ended. */
export interface ChatExit {
  readonly reason: 'end_of_input' | 'exit' | 'signal';
  /** Undefined if nothing was sent: then there is no session. */
  readonly row: SessionRow | undefined;
}

/** Shows a chat to a person or a program. */
export interface ChatView {
  readonly opened: (facts: ChatFacts) => void;
  readonly show: (event: LogEvent | PartialEvent) => void;
  /** Marks an input as typed here, so that `show` does not repeat it. */
  readonly typed: (id: string) => void;
  /** Shows the question about a call, and returns the prompt for the answer. */
  readonly promptForCall: (call: PendingCall) => string;
  /** The prompt for a message. */
  readonly prompt: (continued: boolean) => string;
  /** Shows information that is not an event. */
  readonly notice: (text: string) => void;
  /** Shows the output of a chat command. */
  readonly list: (lines: readonly string[]) => void;
  /** Shows an error. The chat continues. */
  readonly problem: (error: unknown) => void;
  readonly ended: (exit: ChatExit) => void;
}
