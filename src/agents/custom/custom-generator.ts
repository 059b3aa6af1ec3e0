import type { Content, Json } from '../../core/index.ts';
import type { RequestedActions } from '../callbacks/parse-actions.ts';
import type { Ending } from '../vocabulary/turn.ts';

/** A value that a custom agent yields: a message, an event with actions, or the run of a sub-agent. */
export type CustomYield = string | Content | YieldedEvent | SubAgentRun;

/** A yield with more than content. All of it is committed at once, or nothing. */
export interface YieldedEvent {
  readonly content?: Content;
  readonly actions?: RequestedActions;
  /** The agent's output for the next node, if it is a node of a workflow. The last output counts. */
  readonly output?: Json;
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

/** A generator with its context and the number of its yields so far. */
export interface CachedGenerator<Scope> {
  readonly generator: CustomGenerator;
  readonly liveContext: Scope;
  readonly yielded: number;
}

/**
 * Caches generators between two of their yields, by session, in this process. On a miss the generator runs again from its
 * beginning and skips the yields it had made.
 */
export class CustomGeneratorCache<Scope> {
  readonly #bySession = new WeakMap<
    object,
    CachedGenerator<Scope> & { readonly activation: string }
  >();

  /** Removes and returns the generator with this many yields in this activation. Any other of the session is ended. */
  take(host: unknown, activation: string, yieldCount: number): CachedGenerator<Scope> | undefined {
    if (typeof host !== 'object' || host === null) return undefined;
    const cached = this.#bySession.get(host);
    this.#bySession.delete(host);
    if (cached?.activation === activation && cached.yielded === yieldCount) return cached;
    if (cached !== undefined) endGenerator(cached.generator);
    return undefined;
  }

  /** Stores the generator until its next step. */
  keep(host: unknown, activation: string, run: CachedGenerator<Scope>): void {
    if (typeof host === 'object' && host !== null)
      this.#bySession.set(host, { ...run, activation });
  }
}

/** Ends a generator so that it can clean up. Its result and its errors are ignored. */
export function endGenerator(generator: CustomGenerator): void {
  void generator.return().catch(() => {});
}
