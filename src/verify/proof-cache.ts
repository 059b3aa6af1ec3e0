import { createHash } from 'node:crypto';
import { parseTokenValue } from '../net/internal.ts';
import type { AnyPlace } from '../net/index.ts';
import type { Bounds } from './properties/bounds.ts';
import type { ContractResult } from './contracts/contract-check.ts';
import type { ComponentTree } from './contracts/contract.ts';
import type { Reductions } from './reduction/reductions.ts';
import type { ExpandedNet } from './system/expand.ts';
import type { Property } from './properties/property.ts';
import type { PropertyResult } from './report.ts';

/** A decided result in a cache, with the facts that the report of its proof states beside the results. */
export interface CachedResult extends PropertyResult {
  /** `ProofReport.unfired` */
  readonly unfired?: readonly string[];
  /** `ProofReport.contracts` */
  readonly contracts?: readonly ContractResult[];
}

/**
 * A cache of decided results. A `Map` is one. `createFileProofCache` creates one that outlives the process. The property
 * of a result that `get` returns is not used. A counterexample is checked before it is used.
 */
export interface ProofCache {
  readonly get: (key: string) => Omit<CachedResult, 'property'> | undefined;
  readonly set: (key: string, result: CachedResult) => unknown;
}

/**
 * The version of the prover, as part of each cache key. Raise it with every change after which a proof may have another
 * verdict or another counterexample: otherwise a stored cache returns the results of the faulty prover.
 */
const PROVER_VERSION = 21;

/** What decides a verdict besides the net and the property. */
export interface CachedOptions {
  readonly bounds?: Bounds;
  readonly components?: ComponentTree;
  readonly route?: 'portfolio' | 'search' | 'solver';
  readonly beyondBounds?: boolean;
  readonly reductions?: Reductions;
}

/**
 * Returns the cache key of a proof: a hash of the version of the prover, the expanded net, the initial tokens, the
 * options that decide a verdict, and the property.
 */
export function proofCacheKey(
  net: ExpandedNet,
  { bounds, components, route, beyondBounds, reductions }: CachedOptions,
  property: Property,
): string {
  const { places, transitions, environment, faults, keys, tracked } = net;
  const initial = net.net.initial.map(({ place, times, value }) => [
    place.name,
    times,
    keys.getKeyFunctions(place.name).map((getKey) => readKey(getKey, place, value)),
    tracked.toInitialColor(place, value),
  ]);
  const question = [
    PROVER_VERSION,
    net.net.hash,
    places,
    transitions,
    net.net.transitions.map(({ spec }) => spec.isForFormerTokens ?? false),
    environment,
    faults,
    initial,
    tracked.labels,
    bounds ?? {},
    components ?? null,
    route ?? 'portfolio',
    beyondBounds ?? false,
    reductions ?? {},
    property,
  ];
  // JSON has no Infinity, and null has another meaning here. This text is part of the key.
  const text = JSON.stringify(question, (_, value: unknown) =>
    value === Number.POSITIVE_INFINITY ? 'any number' : value,
  );
  return createHash('sha256').update(text).digest('hex');
}

function readKey(
  getKey: (token: unknown) => string,
  place: AnyPlace,
  value: unknown,
): string | null {
  try {
    return getKey(parseTokenValue(place, value));
  } catch {
    return null;
  }
}
