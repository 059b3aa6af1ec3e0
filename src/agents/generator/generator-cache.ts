import { isObject } from '../../core/internal.ts';
import type { GeneratorStep } from './generator-step.ts';

/** The generator of a custom agent or a node. */
export type Generator = AsyncGenerator<unknown, unknown, unknown>;

/** A generator between two of its yields, with its context. */
export interface CachedGenerator<LiveContext> {
  readonly generator: Generator;
  readonly live: LiveContext;
}

type Run<LiveContext> = CachedGenerator<LiveContext> &
  Pick<GeneratorStep, 'invocationId' | 'yielded'>;

/**
 * Caches generators between two of their yields, by session and run, in this process. On a miss the generator runs again
 * from its beginning and skips the yields it had made.
 */
export class GeneratorCache<LiveContext> {
  readonly #bySession = new WeakMap<object, Map<string, Run<LiveContext>>>();

  /** Removes and returns the generator of this step. Generators of other invocations of the session are ended. */
  take(
    host: unknown,
    { invocationId, activation, yielded }: GeneratorStep,
  ): CachedGenerator<LiveContext> | undefined {
    const runs = isObject(host) ? this.#bySession.get(host) : undefined;
    if (runs === undefined) return undefined;
    for (const [key, run] of runs) {
      if (run.invocationId === invocationId) continue;
      runs.delete(key);
      endGenerator(run.generator);
    }
    const run = runs.get(activation);
    runs.delete(activation);
    if (run?.yielded === yielded) return run;
    if (run !== undefined) endGenerator(run.generator);
    return undefined;
  }

  /** Stores the generator until the step after this one. */
  keep(
    host: unknown,
    { invocationId, activation, yielded }: GeneratorStep,
    cached: CachedGenerator<LiveContext>,
  ): void {
    if (!isObject(host)) return;
    const runs = this.#bySession.get(host) ?? new Map<string, Run<LiveContext>>();
    this.#bySession.set(
      host,
      runs.set(activation, { ...cached, invocationId, yielded: yielded + 1 }),
    );
  }
}

/** Ends a generator so that it can clean up. Its result and its errors are ignored. */
export function endGenerator(generator: Generator): void {
  void generator.return(undefined).catch(() => {});
}

/** The value as an async generator, if it is a sync or async generator; else undefined. */
export function toGenerator(value: unknown): Generator | undefined {
  if (!isObject(value)) return undefined;
  if (!('next' in value) || typeof value['next'] !== 'function') return undefined;
  if (Symbol.asyncIterator in value)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a value with next and asyncIterator is an async generator
    return value as unknown as Generator;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a value with next and iterator is a generator
  return Symbol.iterator in value ? toAsync(value as unknown as SyncGenerator) : undefined;
}

type SyncGenerator = globalThis.Generator<unknown, unknown, unknown>;

async function* toAsync(generator: SyncGenerator): Generator {
  try {
    let next = generator.next();
    while (next.done !== true) next = generator.next(yield next.value);
    return next.value;
  } finally {
    generator.return(undefined);
  }
}
