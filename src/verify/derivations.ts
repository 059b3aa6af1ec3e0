import type { CompiledNet } from '../net/index.ts';
import type { Bounds } from './properties/bounds.ts';
import type { Property, SearchedProperty } from './properties/property.ts';
import { resolveProperty } from './properties/resolve-property.ts';
import { isOrderedByArcs } from './reduction/ordered-by-arcs.ts';
import type { Reductions } from './reduction/reductions.ts';
import type { PropertyResult } from './report.ts';

interface Derivation {
  readonly property: Property;
  readonly parts: readonly SearchedProperty[];
  /** For a property that the arcs decide: why it holds. */
  readonly heldBy: string | undefined;
}

/** What decides which properties need a search. */
export interface DerivationOptions {
  readonly properties: readonly Property[];
  readonly bounds?: Bounds;
  readonly reductions?: Reductions;
}

/** The properties of a proof, each with the searched properties from which it follows. */
export class Derivations {
  readonly #all: readonly Derivation[];
  readonly #parts = new Map<Property, PropertyResult>();

  constructor(net: CompiledNet, { properties, bounds = {}, reductions = {} }: DerivationOptions) {
    this.#all = properties.map((property) => {
      const isOrdered =
        property.kind === 'precedes' &&
        reductions.arcs !== false &&
        isOrderedByArcs(net, property, bounds);
      const resolved = isOrdered
        ? { heldBy: 'the arcs: each firing takes a token that such an event gives' }
        : resolveProperty(net, property);
      return 'heldBy' in resolved
        ? { property, parts: [], heldBy: resolved.heldBy }
        : { property, parts: resolved.properties, heldBy: undefined };
    });
  }

  /** The properties to search. */
  get searched(): readonly SearchedProperty[] {
    return this.#all.flatMap(({ parts }) => parts);
  }

  /** Returns the results that need no search. */
  takeKnown(): readonly PropertyResult[] {
    return this.results().filter(({ property }) =>
      this.#all.some((one) => one.property === property && one.heldBy !== undefined),
    );
  }

  /** Adds the result of a searched property. Returns the results that are complete with it. */
  add(result: PropertyResult): readonly PropertyResult[] {
    this.#parts.set(result.property, result);
    return this.#all
      .filter(({ parts }) => parts.some((part) => part === result.property))
      .flatMap((one) => this.#combine(one) ?? []);
  }

  /** The results of all properties, in their order. A property without a complete result is `unknown`. */
  results(): readonly PropertyResult[] {
    return this.#all.map((one) => this.#combine(one) ?? notDecided(one.property));
  }

  #combine({ property, parts, heldBy }: Derivation): PropertyResult | undefined {
    if (heldBy !== undefined)
      return { property, verdict: 'proved', by: heldBy, over: [], states: 0, durationMs: 0 };
    const results = parts.flatMap((part) => this.#parts.get(part) ?? []);
    if (results.length < parts.length) return undefined;
    const decisive =
      results.find(({ verdict }) => verdict === 'refuted') ??
      results.find(({ verdict }) => verdict === 'unknown') ??
      results[0];
    if (decisive === undefined) return undefined;
    const sum = (toNumber: (result: PropertyResult) => number): number =>
      results.reduce((all, result) => all + toNumber(result), 0);
    return {
      ...decisive,
      property,
      states: sum(({ states }) => states),
      durationMs: sum(({ durationMs }) => durationMs),
    };
  }
}

function notDecided(property: Property): PropertyResult {
  const facts = { property, by: 'not searched', over: [], states: 0, durationMs: 0 };
  return { ...facts, verdict: 'unknown', reason: 'the proof ended without a result for it' };
}
