import type { Content, Json } from '../../core/index.ts';
import type { RequestedActions } from '../callbacks/parse-actions.ts';
import type { Ending } from '../vocabulary/turn.ts';

/** What a custom agent yields: something it says or does, or one of its agents that is to have its turn. */
export type CustomYield = string | Content | YieldedEvent | SubAgentRun;

/** What a custom agent yields when it is more than words: all of it is committed at once, or nothing. */
export interface YieldedEvent {
  readonly content?: Content;
  readonly actions?: RequestedActions;
  /** What the agent gives to whoever goes on, where it is a node of a workflow. The last one counts. */
  readonly output?: Json;
}

/** One of its agents is to have its turn. Made by `context.run`. */
export interface SubAgentRun {
  readonly runs: string;
}

/** What a custom agent gets back for a yield: how the agent ended, where it was one. */
export type CustomReply = Pick<Ending, 'stopReason' | 'escalate'>;

/**
 * What a custom agent's `run` returns. It goes on when its yield is committed, with a reply where an agent was
 * yielded, and undefined where words were.
 */
export type CustomGenerator = AsyncGenerator<CustomYield, void, CustomReply | undefined>;

/** A generator that has yielded so often, and what its context looks at now. */
export interface CachedGenerator<Scope> {
  readonly generator: CustomGenerator;
  readonly liveContext: Scope;
  readonly yielded: number;
}

/**
 * Generators between two of their yields, by the session whose they are: a memory of this process, and never the only
 * one. What is not found here is run again from its beginning, and what it had yielded is skipped.
 */
export class CustomGeneratorCache<Scope> {
  readonly #bySession = new WeakMap<
    object,
    CachedGenerator<Scope> & { readonly activation: string }
  >();

  /** Hands out the generator that has yielded so often in this activation, if it is here. Any other of the session is ended. */
  take(host: unknown, activation: string, yieldCount: number): CachedGenerator<Scope> | undefined {
    if (typeof host !== 'object' || host === null) return undefined;
    const cached = this.#bySession.get(host);
    this.#bySession.delete(host);
    if (cached?.activation === activation && cached.yielded === yieldCount) return cached;
    if (cached !== undefined) endGenerator(cached.generator);
    return undefined;
  }

  keep(host: unknown, activation: string, run: CachedGenerator<Scope>): void {
    if (typeof host === 'object' && host !== null)
      this.#bySession.set(host, { ...run, activation });
  }
}

/** Lets a generator clean up. Nobody waits for it, and what it says now is not heard. */
export function endGenerator(generator: CustomGenerator): void {
  void generator.return().catch(() => {});
}
