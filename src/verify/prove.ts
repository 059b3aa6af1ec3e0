import type { CompiledNet } from '../net/compile.ts';
import { Alphabet } from './alphabet.ts';
import type { Bounds } from './bounds.ts';
import { expand } from './expand.ts';
import type { ExpandedNet } from './expand.ts';
import { orderedPath } from './order.ts';
import { questionKey } from './proof-cache.ts';
import type { ProofCache } from './proof-cache.ts';
import type { Property } from './property.ts';
import { replay } from './replay.ts';
import type { ProofReport, PropertyResult } from './report.ts';
import { search } from './search.ts';
import type { Path } from './search.ts';
import { encode } from './smt/encode.ts';
import { anySolver } from './smt/solver.ts';
import type { Solver, SolverLimits } from './smt/solver.ts';
import { Steps } from './steps.ts';
import { traceOf } from './trace.ts';
import { ReplayError } from './verify-errors.ts';
import { watchOf } from './watch.ts';

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
  const alphabet = new Alphabet();
  const watches = properties.map((property) => watchOf(expanded, alphabet, property));
  const keys = new Map(
    cache === undefined
      ? []
      : properties.map((property) => [property, questionKey(expanded, bounds, property)]),
  );
  const results = new Map<Property, PropertyResult>();
  for (const [property, key] of keys) {
    const known = cache?.get(key);
    if (known !== undefined) results.set(property, known);
  }
  const open = watches.filter(({ property }) => !results.has(property));
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
    const searched = route === 'solver' ? properties.map(unasked) : this.#searchAll(properties);
    const results: PropertyResult[] = [];
    for (const result of searched) {
      const asks =
        (result.verdict === 'unknown' && route !== 'search') ||
        (result.verdict === 'proved' && beyondBounds);
      results.push(asks ? await this.#askSolver(result) : result);
    }
    return results;
  }

  #searchAll(properties: readonly Property[]): readonly PropertyResult[] {
    const startedAt = performance.now();
    const alphabet = new Alphabet();
    const watches = properties.map((property) => watchOf(this.#net, alphabet, property));
    const outlets = new Set(watches.flatMap((watch) => [...watch.outlets]));
    const unordered = new Steps(this.#net, 'unordered', outlets, alphabet);
    const { findings, states } = search(unordered, watches, this.#bounds);
    const durationMs = performance.now() - startedAt;
    return properties.map((property, index): PropertyResult => {
      const finding = findings[index];
      const over = this.#net.statement;
      const facts = { property, by: 'search', over, states, durationMs };
      if (finding === undefined || finding.verdict === 'unknown')
        return this.#searchOrdered(property, facts, finding?.reason);
      if (finding.verdict === 'holds') return { ...facts, verdict: 'proved' };
      const ordered = new Steps(this.#net, 'ordered', outlets, alphabet);
      const path = orderedPath(unordered, ordered, finding.path);
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
    const reasons = [gaveUp, finding?.reason].filter((one) => one !== undefined);
    return { ...facts, verdict: 'unknown', reason: [...new Set(reasons)].join('; ') };
  }

  /** First for any number of tokens from outside, then within the bounds, if nothing is known for them yet. */
  async #askSolver(before: PropertyResult): Promise<PropertyResult> {
    const { solver = anySolver(), solverLimits = {} } = this.#options;
    const startedAt = performance.now();
    const bounded = before.verdict === 'unknown' && this.#net.environment.length > 0;
    const reasons: string[] = before.reason === undefined ? [] : [before.reason];
    for (const boundedEnvironment of bounded ? [false, true] : [false]) {
      const query = encode(this.#net, before.property, boundedEnvironment);
      if ('reason' in query) {
        reasons.push(query.reason);
        break;
      }
      const said = await solver.ask(query.text, solverLimits);
      const durationMs = before.durationMs + performance.now() - startedAt;
      if (said.answer === 'sat') {
        const { property } = before;
        const { by } = said;
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
        said.answer === 'unsat'
          ? 'without keys, ages and phases it can break, so the solver does not decide it'
          : `${said.by}: ${said.reason}`,
      );
    }
    if (before.verdict !== 'unknown') return before;
    const durationMs = before.durationMs + performance.now() - startedAt;
    return { ...before, durationMs, reason: [...new Set(reasons)].join('; ') };
  }
}

type Facts = Omit<PropertyResult, 'verdict'>;

function unasked(property: Property): PropertyResult {
  return { property, verdict: 'unknown', by: 'solver', over: [], states: 0, durationMs: 0 };
}

/** A refutation counts when the executor goes the same way. */
function refuted(facts: Facts, steps: Steps, path: Path): PropertyResult {
  try {
    replay(steps, path);
    return { ...facts, verdict: 'refuted', trace: traceOf(steps, path) };
  } catch (error) {
    if (!(error instanceof ReplayError)) throw error;
    return { ...facts, verdict: 'unknown', reason: error.message };
  }
}
