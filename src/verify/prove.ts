import type { CompiledNet } from '../net/compile.ts';
import { Alphabet } from './alphabet.ts';
import type { Bounds } from './bounds.ts';
import { expand } from './expand.ts';
import type { ExpandedNet } from './expand.ts';
import { orderedPath } from './order.ts';
import type { Property } from './property.ts';
import { replay } from './replay.ts';
import type { ProofReport, PropertyResult } from './report.ts';
import { search } from './search.ts';
import type { Path } from './search.ts';
import { Steps } from './steps.ts';
import { traceOf } from './trace.ts';
import { ReplayError } from './verify-errors.ts';
import { watchOf } from './watch.ts';

export interface ProveOptions {
  readonly properties: readonly Property[];
  readonly bounds?: Bounds;
}

/**
 * Proves or refutes each property of the net that really runs, or says why it cannot. A refutation was replayed on the
 * executor before it is returned.
 * @throws UnknownNameError when a property or a bound names what the net does not have
 */
export async function prove(net: CompiledNet, options: ProveOptions): Promise<ProofReport> {
  const startedAt = performance.now();
  const { properties, bounds = {} } = options;
  const expanded = expand(net, bounds);
  const alphabet = new Alphabet();
  const watches = properties.map((property) => watchOf(expanded, alphabet, property));
  const alone = watches.filter((watch) => watch.next !== undefined);
  const together = watches.filter((watch) => watch.next === undefined);
  const results = new Map<Property, PropertyResult>();
  const proof = new Proof(expanded, bounds);
  for (const group of [...(together.length > 0 ? [together] : []), ...alone.map((one) => [one])]) {
    for (const result of proof.decide(group.map((watch) => watch.property)))
      results.set(result.property, result);
  }
  return {
    net: net.name,
    hash: net.hash,
    places: expanded.places.length,
    transitions: expanded.transitions.length,
    results: properties.flatMap((property) => results.get(property) ?? []),
    durationMs: performance.now() - startedAt,
  };
}

class Proof {
  readonly #net: ExpandedNet;
  readonly #bounds: Bounds;

  constructor(net: ExpandedNet, bounds: Bounds) {
    this.#net = net;
    this.#bounds = bounds;
  }

  /** Decides properties that can share a search. */
  decide(properties: readonly Property[]): readonly PropertyResult[] {
    const startedAt = performance.now();
    const alphabet = new Alphabet();
    const watches = properties.map((property) => watchOf(this.#net, alphabet, property));
    const outlets = new Set(watches.flatMap((watch) => [...watch.outlets]));
    const unordered = new Steps(this.#net, 'unordered', outlets, alphabet);
    const { findings, states } = search(unordered, watches, this.#bounds);
    const durationMs = performance.now() - startedAt;
    return properties.map((property, index): PropertyResult => {
      const finding = findings[index];
      const facts = {
        property,
        by: 'search',
        over: this.#net.statement,
        states,
        durationMs,
      };
      if (finding === undefined || finding.verdict === 'unknown')
        return this.#decideOrdered(property, facts, finding?.reason);
      if (finding.verdict === 'holds') return { ...facts, verdict: 'proved' };
      const ordered = new Steps(this.#net, 'ordered', outlets, alphabet);
      const path = orderedPath(unordered, ordered, finding.path);
      if (path !== undefined) return refuted(facts, ordered, path);
      return this.#decideOrdered(property, facts);
    });
  }

  /**
   * The break was seen in an order among equals that the executor may never choose, or there are too many orders: asks
   * again, with ages.
   */
  #decideOrdered(
    property: Property,
    before: Omit<PropertyResult, 'verdict'>,
    gaveUp?: string,
  ): PropertyResult {
    const startedAt = performance.now();
    const alphabet = new Alphabet();
    const watch = watchOf(this.#net, alphabet, property);
    const steps = new Steps(this.#net, 'ordered', watch.outlets, alphabet);
    const { findings, states } = search(steps, [watch], this.#bounds);
    const facts = {
      ...before,
      by: 'search in the order of ages',
      states,
      durationMs: before.durationMs + performance.now() - startedAt,
    };
    const [finding] = findings;
    if (finding?.verdict === 'holds') return { ...facts, verdict: 'proved' };
    if (finding?.verdict === 'broken') return refuted(facts, steps, finding.path);
    const reason = [gaveUp, finding?.reason].filter((one) => one !== undefined);
    return { ...facts, verdict: 'unknown', reason: [...new Set(reason)].join('; ') };
  }
}

/** A refutation counts when the executor goes the same way. */
function refuted(facts: Omit<PropertyResult, 'verdict'>, steps: Steps, path: Path): PropertyResult {
  try {
    replay(steps, path);
    return { ...facts, verdict: 'refuted', trace: traceOf(steps, path) };
  } catch (error) {
    if (!(error instanceof ReplayError)) throw error;
    return { ...facts, verdict: 'unknown', reason: error.message };
  }
}
