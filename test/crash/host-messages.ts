import type { LogEvent } from '../../src/core/index.ts';

/** Where a host kills itself by SIGKILL, the `nth` time it gets there. */
export interface Failpoint {
  /** Before or after a transaction of the store is durable; before or after a tool did its work. */
  readonly point: 'before-commit' | 'after-commit' | 'tool-began' | 'tool-did';
  readonly nth: number;
}

export interface HostOptions {
  /** The SQLite file. */
  readonly database: string;
  /** The file to which tools write their effects. */
  readonly effects: string;
  /** The agent variant with which this process is deployed. */
  readonly variant: string;
  /** The number of the process within the test. */
  readonly run: number;
  /** Armed from the start, so that joins and claims count. */
  readonly failpoint?: Failpoint;
}

/** A call that the model makes. A message of these tests is a JSON list of calls. */
export interface CallRequest {
  readonly name: 'note' | 'pay' | 'slow' | 'stuck' | 'exit' | 'extra';
  readonly text: string;
}

/** A command to a host. Each is answered by a `reply` message with its number. */
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
  /** A tool that waits for `release` has started. */
  | { readonly holding: string }
  | { readonly accepted: string; readonly session: string }
  | { readonly event: LogEvent; readonly session: string };

/** One side effect of a tool. */
export interface Effect {
  readonly what: 'began' | 'did';
  readonly tool: string;
  readonly callId: string;
  readonly attempt: number;
  readonly run: number;
}
