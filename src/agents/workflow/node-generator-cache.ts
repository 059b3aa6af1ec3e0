import type { LiveNodeContext } from './node-context.ts';

/** What a node that yields is, as it runs. */
export type NodeGenerator = AsyncGenerator<unknown, unknown, unknown>;

export interface CachedNodeGenerator {
  readonly generator: NodeGenerator;
  readonly liveContext: LiveNodeContext;
  readonly yielded: number;
}

/**
 * Nodes between two of their yields, by the session and the run: a memory of this process, and never the only one. What
 * is not found here is run again from its beginning, and what it had yielded is skipped.
 */
export class NodeGeneratorCache {
  readonly #bySession = new WeakMap<
    object,
    Map<string, CachedNodeGenerator & { readonly invocationId: string }>
  >();

  /** Hands out the run that has yielded so often, if it is here. Those of former invocations are ended. */
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

  keep(host: unknown, invocationId: string, activation: string, run: CachedNodeGenerator): void {
    if (typeof host !== 'object' || host === null) return;
    const runs =
      this.#bySession.get(host) ??
      new Map<string, CachedNodeGenerator & { invocationId: string }>();
    this.#bySession.set(host, runs.set(activation, { ...run, invocationId }));
  }
}

/** Lets a node clean up. Nobody waits for it, and what it says now is not heard. */
export function endNodeGenerator(generator: NodeGenerator): void {
  void generator.return(undefined).catch(() => {});
}
