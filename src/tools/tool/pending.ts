import type { Json } from '../../core/index.ts';

/** What a tool returns when its result comes later, from outside. Made by `pending()`. */
export class Pending {
  readonly request: Json | undefined;
  readonly resume: Json | undefined;
  readonly timeoutMs: number | undefined;

  constructor({ request, resume, timeoutMs }: PendingOptions) {
    this.request = request;
    this.resume = resume;
    this.timeoutMs = timeoutMs;
  }
}

/** What a call that waits shows to whoever answers, what it keeps for itself, and how long it waits. */
export interface PendingOptions {
  /** What is asked, or what is known so far: shown to whoever is to answer. */
  readonly request?: Json;
  /** Given back to the tool with the answer: it then runs again. Without it the answer is the result. */
  readonly resume?: Json;
  /** How long it waits, in milliseconds; for ever when missing. */
  readonly timeoutMs?: number;
}

/** What was said to the question a call waited with. */
export interface ToolAnswer {
  readonly response: Json;
  readonly isError: boolean;
  /** What the tool left for itself when it asked. */
  readonly resume: Json;
}

/**
 * Parks the call that returns it: it waits as a token for an answer, in this process or in a later one. A tool that
 * has written to state may not: its writes belong to a result.
 */
export function pending(options: PendingOptions = {}): Pending {
  return new Pending(options);
}
