import { checkOptions, optionTable } from '../../core/index.ts';
import type { Json, OptionTable } from '../../core/index.ts';

/** Returned by a tool whose result comes later, from outside. Created by `pending()`. */
export class Pending {
  readonly request: Json | undefined;
  readonly resume: Json | undefined;
  readonly timeoutMs: number | undefined;

  constructor(options: PendingOptions) {
    if (new.target === Pending) checkOptions(PENDING_CALL_OPTIONS, options);
    const { request, resume, timeoutMs } = options;
    this.request = request;
    this.resume = resume;
    this.timeoutMs = timeoutMs;
  }
}

/** Options of `pending`: what the waiting call shows, what it keeps, and how long it waits. */
export interface PendingOptions {
  /** The question, or what is known so far. It is shown to the person or program that answers. */
  readonly request?: Json;
  /**
   * Passed back to the tool with the answer; the tool then runs again. Without it, the answer is
   * the result.
   */
  readonly resume?: Json;
  /** How long the call waits, in milliseconds. Default: no limit. */
  readonly timeoutMs?: number;
}

/** The answer to a waiting call. */
export interface ToolAnswer {
  readonly response: Json;
  readonly isError: boolean;
  /** The `resume` value that the tool passed to `pending`. */
  readonly resume: Json;
}

/** The options of `pending`. */
export const PENDING_CALL_OPTIONS: OptionTable = optionTable<PendingOptions>('pending', {
  request: true,
  resume: true,
  timeoutMs: true,
});

/**
 * Parks the call that returns it: the call waits as a token for an answer, in this process or a
 * later one. A tool that has written to state cannot park, because its writes are committed with a
 * result.
 */
export function pending(options: PendingOptions = {}): Pending {
  return new Pending(options);
}
