import type { LogEvent } from '../../src/core/index.ts';

/** Where a host is to end itself by SIGKILL, the `nth` time it comes there. */
export interface Failpoint {
  /** In a transaction of the store, before or after it is durable; in a tool, before or after it did its work. */
  readonly point: 'before-commit' | 'after-commit' | 'tool-began' | 'tool-did';
  readonly nth: number;
}

export interface HostOptions {
  /** The SQLite file. */
  readonly database: string;
  /** Where tools note what they do. */
  readonly effects: string;
  /** Which agent this process was deployed with. */
  readonly variant: string;
  /** Counts the processes of a test. */
  readonly run: number;
  /** Set from the very start, so that joining and taking sessions count. */
  readonly failpoint?: Failpoint;
}

/** A call the model is to make; a message of these tests is a JSON list of them. */
export interface CallRequest {
  readonly name: 'note' | 'pay' | 'slow' | 'exit' | 'extra';
  readonly text: string;
}

/** What a parent asks of a host. Each is answered by a `Reply` of the same number. */
export type HostCommand =
  | {
      readonly do: 'open' | 'find' | 'pending' | 'status' | 'log' | 'idle';
      readonly session: string;
    }
  | { readonly do: 'watch'; readonly session: string; readonly from: number }
  | {
      readonly do: 'send';
      readonly session: string;
      readonly requests: readonly CallRequest[];
      readonly messageId: string;
    }
  | { readonly do: 'approve'; readonly session: string; readonly callId: string }
  | {
      readonly do: 'inject';
      readonly session: string;
      readonly place: string;
      readonly value: string;
    }
  | { readonly do: 'work'; readonly session: string; readonly from: number; readonly to: number }
  | { readonly do: 'arm'; readonly failpoint: Failpoint }
  | { readonly do: 'release'; readonly text: string }
  | { readonly do: 'close' };

export type HostMessage =
  | { readonly ready: true }
  | { readonly reply: number; readonly value: unknown }
  | {
      readonly reply: number;
      readonly error: {
        readonly code: string;
        readonly message: string;
        readonly places?: readonly string[];
      };
    }
  /** A tool that waits to be released has begun. */
  | { readonly holding: string }
  | { readonly accepted: string; readonly session: string }
  | { readonly event: LogEvent; readonly session: string };

/** What a tool did, in the order in which it happened. */
export interface Effect {
  readonly what: 'began' | 'did';
  readonly tool: string;
  readonly callId: string;
  readonly attempt: number;
  readonly run: number;
}
