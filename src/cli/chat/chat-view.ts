import type { LogEvent, PartialEvent } from '../../core/index.ts';
import type { PendingCall } from '../../runtime/index.ts';
import type { SessionRow } from '../../store/index.ts';

/** Which session a chat is about. */
export interface ChatFacts {
  readonly session: string;
  readonly user: string;
  readonly agent: string;
  readonly store: string;
  /** As it was found; undefined for a new one. */
  readonly found: SessionRow | undefined;
  /** Other sessions of this user and agent that are not idle; none when a session was asked for by its id. */
  readonly unfinished: readonly string[];
}

/** How a chat ends. */
export interface ChatExit {
  readonly reason: 'end_of_input' | 'exit' | 'signal';
  /** Undefined when nothing was ever said: then there is no session. */
  readonly row: SessionRow | undefined;
}

/** Shows a chat: to a person, or to a program. */
export interface ChatView {
  readonly opened: (facts: ChatFacts) => void;
  readonly show: (event: LogEvent | PartialEvent) => void;
  /** Shows what was sent or answered here as it was typed, so that `show` need not repeat it. */
  readonly typed: (id: string) => void;
  /** Says what is asked of a person, and gives the prompt for it. */
  readonly promptForCall: (call: PendingCall) => string;
  /** The prompt for a message. */
  readonly prompt: (continued: boolean) => string;
  /** Something to know that no event says. */
  readonly notice: (text: string) => void;
  /** What a command typed into the chat shows. */
  readonly list: (lines: readonly string[]) => void;
  /** Something that did not work; the chat goes on. */
  readonly problem: (error: unknown) => void;
  readonly ended: (exit: ChatExit) => void;
}
