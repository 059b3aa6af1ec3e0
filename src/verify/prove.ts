import type { CompiledNet } from '../net/build/compile.ts';
import { TokenClasses } from './system/token-classes.ts';
import type { Bounds } from './properties/bounds.ts';
import { expand } from './system/expand.ts';
import type { ExpandedNet } from './system/expand.ts';
import { findOrderedPath } from './search/ordered-path.ts';
import { proofCacheKey } from './proof-cache.ts';
import type { ProofCache } from './proof-cache.ts';
import type { Property } from './properties/property.ts';
import { replay } from './replay/replay.ts';
import type { ProofReport, PropertyResult } from './report.ts';
import { search } from './search/search.ts';
import type { Path } from './search/search.ts';
import { encodeProperty } from './smt/encode.ts';
import { anySolver } from './smt/solver.ts';
import type { Solver, SolverLimits } from './smt/solver.ts';
import { TransitionSystem } from './system/transition-system.ts';
import { toTrace } from './trace/trace.ts';
import { ReplayError } from './properties/verify-errors.ts';
import { createMonitor } from './search/property-monitor.ts';

/** What is to be proved of a net, how far the proof looks, and who looks. */
export interface ProveOptions {
  readonly properties: readonly Property[];
  readonly bounds?: Bounds;
  /**
   * `portfolio`, unless said: a search of all states, and a solver where it gives up. `search` or `solver`: that one only.
   */
  readonly route?: 'portfolio' | 'search' | 'solver';
  /** Also asks the solver whether what holds within the bounds holds beyond them; false unless said. */
  readonly beyondBounds?: boolean;
  /** The z3 on PATH, else the npm package, unless given. */
  readonly solver?: Solver;
  readonly solverLimits?: SolverLimits;
  readonly cache?: ProofCache;
}

/**
 * Proves or refutes each property of the net that really runs, or says why it cannot. A refutation was replayed on the
 * executor before it is returned.
 * @throws UnknownNameError when a property or a bound names what the net does not have
 */
export async function prove(net: CompiledNet, options: ProveOptions): Promise<ProofReport> {
  const startedAt = performance.now();
  const { properties, bounds = {}, cache } = options;
  const expanded = expand(net, bounds);
  const tokenClasses = new TokenClasses();
  const monitors = properties.map((property) => createMonitor(expanded, tokenClasses, property));
  const keys = new Map(
    cache === undefined
      ? []
      : properties.map((property) => [property, proofCacheKey(expanded, bounds, property)]),
  );
  const results = new Map<Property, PropertyResult>();
  for (const [property, key] of keys) {
    const known = cache?.get(key);
    if (known !== undefined) results.set(property, known);
  }
  const open = monitors.filter(({ property }) => !results.has(property));
  const together = open.filter(({ next }) => next === undefined);
  const alone = open.filter(({ next }) => next !== undefined);
  const proof = new Proof(expanded, options);
  for (const group of [...(together.length > 0 ? [together] : []), ...alone.map((one) => [one])]) {
    for (const result of await proof.decide(group.map(({ property }) => property))) {
      results.set(result.property, result);
      const key = keys.get(result.property);
      if (key !== undefined && result.verdict !== 'unknown') cache?.set(key, result);
    }
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
  readonly #options: ProveOptions;

  constructor(net: ExpandedNet, options: ProveOptions) {
    this.#net = net;
    this.#bounds = options.bounds ?? {};
    this.#options = options;
  }

  /** Decides properties that can share a search. */
  async decide(properties: readonly Property[]): Promise<readonly PropertyResult[]> {
    const { route = 'portfolio', beyondBounds = false } = this.#options;
    const searched = route === 'solver' ? properties.map(notSearched) : this.#searchAll(properties);
    const results: PropertyResult[] = [];
    for (const result of searched) {
      const needsSolver =
        (result.verdict === 'unknown' && route !== 'search') ||
        (result.verdict === 'proved' && beyondBounds);
      results.push(needsSolver ? await this.#decideBySolver(result) : result);
    }
    return results;
  }

  #searchAll(properties: readonly Property[]): readonly PropertyResult[] {
    const startedAt = performance.now();
    const tokenClasses = new TokenClasses();
    const monitors = properties.map((property) => createMonitor(this.#net, tokenClasses, property));
    const outlets = new Set(monitors.flatMap((monitor) => [...monitor.outlets]));
    const unordered = new TransitionSystem(this.#net, 'unordered', outlets, tokenClasses);
    const { findings, states } = search(unordered, monitors, this.#bounds);
    const durationMs = performance.now() - startedAt;
    return properties.map((property, index): PropertyResult => {
      const finding = findings[index];
      const over = this.#net.statement;
      const facts = { property, by: 'search', over, states, durationMs };
      if (finding === undefined || finding.verdict === 'unknown')
        return this.#searchOrdered(property, facts, finding?.reason);
      if (finding.verdict === 'holds') return { ...facts, verdict: 'proved' };
      const ordered = new TransitionSystem(this.#net, 'ordered', outlets, tokenClasses);
      const path = findOrderedPath(unordered, ordered, finding.path);
      if (path !== undefined) return refuted(facts, ordered, path);
      return this.#searchOrdered(property, facts);
    });
  }

  /**
   * The break was seen in an order among equals that the executor may never choose, or there are too many orders: asks
   * again, with ages.
   */
  #searchOrdered(property: Property, before: Facts, gaveUp?: string): PropertyResult {
    const startedAt = performance.now();
    const tokenClasses = new TokenClasses();
    const monitor = createMonitor(this.#net, tokenClasses, property);
    const system = new TransitionSystem(this.#net, 'ordered', monitor.outlets, tokenClasses);
    const { findings, states } = search(system, [monitor], this.#bounds);
    const facts = {
      ...before,
      by: 'search in the order of ages',
      states,
      durationMs: before.durationMs + performance.now() - startedAt,
    };
    const [finding] = findings;
    if (finding?.verdict === 'holds') return { ...facts, verdict: 'proved' };
    if (finding?.verdict === 'broken') return refuted(facts, system, finding.path);
    const reasons = [gaveUp, finding?.reason].filter((one) => one !== undefined);
    return { ...facts, verdict: 'unknown', reason: [...new Set(reasons)].join('; ') };
  }

  /** First for any number of tokens from outside, then within the bounds, if nothing is known for them yet. */
  async #decideBySolver(before: PropertyResult): Promise<PropertyResult> {
    const { solver = anySolver(), solverLimits = {} } = this.#options;
    const startedAt = performance.now();
    const bounded = before.verdict === 'unknown' && this.#net.environment.length > 0;
    const reasons: string[] = before.reason === undefined ? [] : [before.reason];
    for (const boundedEnvironment of bounded ? [false, true] : [false]) {
      const query = encodeProperty(this.#net, before.property, boundedEnvironment);
      if ('reason' in query) {
        reasons.push(query.reason);
        break;
      }
      const solved = await solver.ask(query.text, solverLimits);
      const durationMs = before.durationMs + performance.now() - startedAt;
      if (solved.answer === 'sat') {
        const { property } = before;
        const { by } = solved;
        return {
          property,
          verdict: 'proved',
          by,
          over: query.over,
          states: before.states,
          durationMs,
        };
      }
      reasons.push(
        solved.answer === 'unsat'
          ? 'without keys, ages and phases it can break, so the solver does not decide it'
          : `${solved.by}: ${solved.reason}`,
      );
    }
    if (before.verdict !== 'unknown') return before;
    const durationMs = before.durationMs + performance.now() - startedAt;
    return { ...before, durationMs, reason: [...new Set(reasons)].join('; ') };
  }
}

type Facts = Omit<PropertyResult, 'verdict'>;

function notSearched(property: Property): PropertyResult {
  return { property, verdict: 'unknown', by: 'solver', over: [], states: 0, durationMs: 0 };
}

/** A refutation counts when the executor goes the same way. */
function refuted(facts: Facts, system: TransitionSystem, path: Path): PropertyResult {
  try {
    replay(system, path);
    return { ...facts, verdict: 'refuted', trace: toTrace(system, path) };
  } catch (error) {
    if (!(error instanceof ReplayError)) throw error;
    return { ...facts, verdict: 'unknown', reason: error.message };
  }
}
