import type { LiveNodeContext } from './node-context.ts';

/** The generator of a running node. */
export type NodeGenerator = AsyncGenerator<unknown, unknown, unknown>;

/** A generator with its context and the number of its yields so far. */
export interface CachedNodeGenerator {
  readonly generator: NodeGenerator;
  readonly liveContext: LiveNodeContext;
  readonly yielded: number;
}

/**
 * Caches node generators between two of their yields, by session and run, in this process. On a miss the generator runs
 * again from its beginning and skips the yields it had made.
 */
export class NodeGeneratorCache {
  readonly #bySession = new WeakMap<
    object,
    Map<string, CachedNodeGenerator & { readonly invocationId: string }>
  >();

  /** Removes and returns the run's generator with this many yields. Generators of other invocations are ended. */
  take(
    host: unknown,
    invocationId: string,
    activation: string,
    yielded: number,
  ): CachedNodeGenerator | undefined {
    if (typeof host !== 'object' || host === null) return undefined;
    const runs = this.#bySession.get(host);
    if (runs === undefined) return undefined;
    for (const [name, run] of runs) {
      if (run.invocationId === invocationId) continue;
      runs.delete(name);
      endNodeGenerator(run.generator);
    }
    const run = runs.get(activation);
    runs.delete(activation);
    if (run?.yielded === yielded) return run;
    if (run !== undefined) endNodeGenerator(run.generator);
    return undefined;
  }

  /** Stores the generator until its next step. */
  keep(host: unknown, invocationId: string, activation: string, run: CachedNodeGenerator): void {
    if (typeof host !== 'object' || host === null) return;
    const runs =
      this.#bySession.get(host) ??
      new Map<string, CachedNodeGenerator & { invocationId: string }>();
    this.#bySession.set(host, runs.set(activation, { ...run, invocationId }));
  }
}

/** Ends a generator so that it can clean up. Its result and its errors are ignored. */
export function endNodeGenerator(generator: NodeGenerator): void {
  void generator.return(undefined).catch(() => {});
}
