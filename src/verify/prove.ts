import { omitUndefined } from '../core/internal.ts';
import type { CompiledNet } from '../net/index.ts';
import { TokenClasses } from './system/token-classes.ts';
import { DEFAULT_STATES } from './properties/bounds.ts';
import type { Bounds } from './properties/bounds.ts';
import type { ContractResult } from './contracts/contract-check.ts';
import type { ComponentTree } from './contracts/contract.ts';
import { decideByContracts } from './decide-by-contracts.ts';
import { expand } from './system/expand.ts';
import type { ExpandedNet } from './system/expand.ts';
import { findOrderedPath } from './search/ordered-path.ts';
import { proofCacheKey } from './proof-cache.ts';
import type { ProofCache } from './proof-cache.ts';
import type { Property, SearchedProperty } from './properties/property.ts';
import { isRefutation } from './replay/follow-trace.ts';
import { replay } from './replay/replay.ts';
import type { ProofReport, PropertyResult } from './report.ts';
import { search } from './search/search.ts';
import type { Finding, Path } from './search/search.ts';
import { encodeProperty } from './smt/encode.ts';
import { anySolver } from './smt/solver.ts';
import type { Solver, SolverLimits } from './smt/solver.ts';
import { TransitionSystem } from './system/transition-system.ts';
import { toTrace } from './trace/trace.ts';
import { ReplayError } from './properties/verify-errors.ts';
import { createMonitor } from './search/property-monitor.ts';
import { Derivations } from './derivations.ts';
import type { PropertyMonitor } from './search/property-monitor.ts';
import type { Reductions } from './reduction/reductions.ts';
import { searchSlices } from './reduction/search-slices.ts';
import { ProofRun } from './progress.ts';
import { Coverage, listAssumptions } from './coverage.ts';
import { Settling } from './settling.ts';
import type { ProofObserver } from './progress.ts';

/** The argument of `prove`. */
export interface ProveOptions extends ProofObserver {
  readonly properties: readonly Property[];
  readonly bounds?: Bounds;
  /**
   * The components of the net and their contracts. Properties are then proved through the contracts where they follow
   * from them, which takes as long as all components take one by one. The rest is decided on the whole net. Not used
   * for `route: 'solver'` and with `beyondBounds`. Default: none.
   */
  readonly components?: ComponentTree;
  /**
   * `portfolio`: searches all states, and asks a solver if the search gives up. `search` or `solver`: uses only that
   * method. Default: `portfolio`.
   */
  readonly route?: 'portfolio' | 'search' | 'solver';
  /** Also asks the solver whether a proved property holds beyond the bounds. Default: false. */
  readonly beyondBounds?: boolean;
  /** Default: the `z3` on PATH, or otherwise the npm package `z3-solver`. */
  readonly solver?: Solver;
  readonly solverLimits?: SolverLimits;
  /** Stores decided results, and returns those of equal proofs. Default: none. */
  readonly cache?: ProofCache;
  /** The reductions of a search. Default: none. */
  readonly reductions?: Reductions;
}

/**
 * Proves or refutes each property of a compiled net, the same object that the runtime executes. A property that it can
 * neither prove nor refute has the verdict `unknown`, with a reason. Each refutation is replayed on the executor before
 * it is returned. A call that is aborted returns what it knows.
 * @throws UnknownNameError if a property or a bound names a place or transition that the net does not have.
 * @throws InvalidPropertyError if a bound is invalid.
 */
export async function prove(net: CompiledNet, options: ProveOptions): Promise<ProofReport> {
  const derivations = new Derivations(net, options.properties);
  const { onResult = () => {} } = options;
  derivations.takeKnown().forEach(onResult);
  const report = await proveSearched(net, {
    ...options,
    properties: derivations.searched,
    onResult: (result) => derivations.add(result).forEach(onResult),
  });
  return { ...report, results: derivations.results() };
}

type SearchedOptions = Omit<ProveOptions, 'properties'> & {
  readonly properties: readonly SearchedProperty[];
};

async function proveSearched(net: CompiledNet, options: SearchedOptions): Promise<ProofReport> {
  const startedAt = performance.now();
  const { properties, bounds = {}, cache } = options;
  const expanded = expand(net, bounds);
  const tokenClasses = new TokenClasses();
  const monitors = properties.map((property) => createMonitor(expanded, tokenClasses, property));
  const keys = new Map(
    cache === undefined
      ? []
      : properties.map((property) => [property, proofCacheKey(expanded, options, property)]),
  );
  const results = new Map<SearchedProperty, PropertyResult>();
  const coverage = new Coverage(expanded);
  let contracts: readonly ContractResult[] | undefined;
  const keep = (property: SearchedProperty, result: PropertyResult): void => {
    results.set(property, result);
    const key = keys.get(property);
    if (key === undefined || result.verdict === 'unknown') return;
    cache?.set(key, { ...result, ...omitUndefined({ unfired: coverage.unfired, contracts }) });
  };
  const run = new ProofRun(options);
  for (const [property, key] of keys) {
    const cached = cache?.get(key);
    if (cached === undefined || !isTrusted(expanded, property, cached)) continue;
    const { unfired, contracts: checked, ...result } = cached;
    if (unfired !== undefined) coverage.addUnfired(unfired);
    contracts ??= checked;
    // A cached result has the property of another call, which is equal but not the same object.
    const known = { ...result, property };
    results.set(property, known);
    run.report(known);
  }
  const settling = new Settling(expanded, bounds, run);
  for (const property of properties) {
    if (property.kind !== 'settles' || results.has(property)) continue;
    const result = await settling.decide(property);
    keep(property, result);
    run.report(result);
  }
  const { components, route, beyondBounds = false, signal } = options;
  const undecided = properties.filter((property) => !results.has(property));
  if (components !== undefined && route !== 'solver' && !beyondBounds && undecided.length > 0) {
    const question = { components, properties: undecided, bounds, signal };
    const answer = await decideByContracts(expanded, question, run, coverage);
    contracts = answer.contracts;
    for (const [property, result] of answer.proved) keep(property, result);
  }
  const decided = async (property: SearchedProperty, found: PropertyResult): Promise<void> => {
    const result = await settling.recheck(property, found);
    keep(property, result);
    run.report(result);
  };
  const listOpen = (): readonly PropertyMonitor[] =>
    monitors.filter(({ property }) => !results.has(property));
  const proof = new Proof(expanded, options, run, coverage);
  for await (const decision of proof.searchSlices(listOpen().map(({ property }) => property)))
    await decided(...decision);
  const open = listOpen();
  const together = open.filter(({ next }) => next === undefined);
  const alone = open.filter(({ next }) => next !== undefined);
  for (const group of [...(together.length > 0 ? [together] : []), ...alone.map((one) => [one])]) {
    for await (const decision of proof.decide(group.map(({ property }) => property)))
      await decided(...decision);
  }
  return {
    net: net.name,
    hash: net.hash,
    places: expanded.places.length,
    transitions: expanded.transitions.length,
    results: properties.flatMap((property) => results.get(property) ?? []),
    durationMs: performance.now() - startedAt,
    excluded: coverage.excluded,
    assumptions: listAssumptions(expanded),
    ...omitUndefined({ contracts, unfired: coverage.unfired }),
  };
}

/**
 * True if a cached result can be used. A counterexample is replayed. A refutation without one, or with a cycle, is not
 * used: its steps alone do not show it.
 */
function isTrusted(
  net: ExpandedNet,
  property: SearchedProperty,
  { verdict, trace }: Pick<PropertyResult, 'verdict' | 'trace'>,
): boolean {
  if (verdict === 'proved') return true;
  return verdict === 'refuted' && trace !== undefined && isRefutation(net, property, trace);
}

/** The number of states to visit for a proof that needs none, to see which transitions can fire. */
const STATES_FOR_COVERAGE = 5_000;

class Proof {
  readonly #net: ExpandedNet;
  readonly #bounds: Bounds;
  readonly #options: ProveOptions;
  readonly #run: ProofRun;
  readonly #coverage: Coverage;

  constructor(net: ExpandedNet, options: ProveOptions, run: ProofRun, coverage: Coverage) {
    this.#run = run;
    this.#net = net;
    this.#coverage = coverage;
    this.#bounds = options.bounds ?? {};
    this.#options = options;
  }

  #noFacts(property: SearchedProperty): Facts {
    return { property, by: 'search', over: this.#net.statement, states: 0, durationMs: 0 };
  }

  #notDecided(property: SearchedProperty, reason: string): Decision {
    const over = this.#net.statement;
    return [property, { ...notSearched(property), by: 'not searched', over, reason }];
  }

  /** Decides properties that can share a search. */
  async *decide(properties: readonly SearchedProperty[]): AsyncGenerator<Decision> {
    const { route = 'portfolio', beyondBounds = false } = this.#options;
    const { endReason } = this.#run;
    if (endReason !== undefined) {
      yield* properties.map((one) => this.#notDecided(one, endReason));
      return;
    }
    const searched =
      route === 'solver'
        ? properties.map((one): Decision => [one, notSearched(one)])
        : this.#searchAll(properties);
    for await (const [property, result] of searched) {
      const needsSolver =
        (result.verdict === 'unknown' && route !== 'search') ||
        (result.verdict === 'proved' && beyondBounds);
      yield [property, needsSolver ? await this.#decideBySolver(property, result) : result];
    }
  }

  /** Yields the properties that a slice of the net decides. */
  async *searchSlices(properties: readonly SearchedProperty[]): AsyncGenerator<Decision> {
    if (this.#options.reductions?.slicing !== true || this.#options.route === 'solver') return;
    for (const property of properties) {
      if (this.#run.endReason !== undefined) return;
      const startedAt = performance.now();
      const onPause = this.#run.onPause([property]);
      const found = await searchSlices(this.#net, property, onPause, this.#bounds.states);
      if (found === undefined) continue;
      const over = this.#net.statement;
      const durationMs = performance.now() - startedAt;
      const { states } = found;
      const facts = { property, by: 'search of a slice', over, states, durationMs };
      const result = { ...facts, verdict: 'proved' } as const;
      const { beyondBounds = false } = this.#options;
      yield [property, beyondBounds ? await this.#decideBySolver(property, result) : result];
    }
  }

  async *#searchAll(properties: readonly SearchedProperty[]): AsyncGenerator<Decision> {
    const startedAt = performance.now();
    const tokenClasses = new TokenClasses();
    const monitors = properties.map((property) => createMonitor(this.#net, tokenClasses, property));
    if (monitors.some(({ needsOrder }) => needsOrder)) {
      for (const property of properties)
        yield [property, await this.#searchOrdered(property, this.#noFacts(property))];
      return;
    }
    const outlets = new Set(monitors.flatMap((monitor) => [...monitor.outlets]));
    const unordered = new TransitionSystem(this.#net, 'unordered', outlets, tokenClasses);
    const onPause = this.#run.onPause(properties);
    const outcome = await search(unordered, monitors, this.#bounds, onPause);
    const { findings, states } = outcome;
    const unreached = this.#coverage.add(outcome);
    const durationMs = performance.now() - startedAt;
    for (const [index, property] of properties.entries()) {
      const finding = findings[index];
      const over = this.#net.statement;
      const facts = { property, by: 'search', over, states, durationMs };
      if (finding === undefined || finding.verdict === 'unknown') {
        yield [property, await this.#searchOrdered(property, facts, finding?.reason)];
        continue;
      }
      if (finding.verdict !== 'broken') {
        yield [property, toResult(facts, finding, unreached)];
        continue;
      }
      const ordered = new TransitionSystem(this.#net, 'ordered', outlets, tokenClasses);
      const path = findOrderedPath(unordered, ordered, finding.path);
      yield [
        property,
        path === undefined
          ? await this.#searchOrdered(property, facts)
          : refuted(facts, ordered, path),
      ];
    }
  }

  /**
   * Searches again with the ages of tokens. Used if the violation depends on an order among equals that the executor may
   * never choose, or if the unordered search gave up.
   */
  async #searchOrdered(
    property: SearchedProperty,
    before: Facts,
    gaveUp?: string,
  ): Promise<PropertyResult> {
    const { endReason } = this.#run;
    if (endReason !== undefined) return { ...before, verdict: 'unknown', reason: endReason };
    const startedAt = performance.now();
    const tokenClasses = new TokenClasses();
    const monitor = createMonitor(this.#net, tokenClasses, property);
    const system = new TransitionSystem(this.#net, 'ordered', monitor.outlets, tokenClasses);
    const onPause = this.#run.onPause([property]);
    const outcome = await search(system, [monitor], this.#bounds, onPause);
    const { findings, states } = outcome;
    const unreached = this.#coverage.add(outcome);
    const facts = {
      ...before,
      by: 'search in the order of ages',
      states,
      durationMs: before.durationMs + performance.now() - startedAt,
    };
    const [finding] = findings;
    if (finding?.verdict === 'holds' || finding?.verdict === 'missing')
      return toResult(facts, finding, unreached);
    if (finding?.verdict === 'broken') return refuted(facts, system, finding.path);
    const reasons = [gaveUp, finding?.reason].filter((one) => one !== undefined);
    return { ...facts, verdict: 'unknown', reason: [...new Set(reasons)].join('; ') };
  }

  /** Returns the transitions that no search fired. Without a search so far, the first states are visited for it. */
  async #exploreBriefly(): Promise<readonly string[]> {
    if (!this.#coverage.isExplored) {
      const system = new TransitionSystem(this.#net, 'unordered');
      const states = Math.min(this.#bounds.states ?? DEFAULT_STATES, STATES_FOR_COVERAGE);
      const onPause = this.#run.onPause([]);
      this.#coverage.add(await search(system, [], { ...this.#bounds, states }, onPause));
    }
    return this.#coverage.addWithoutSearch();
  }

  /** Asks the solver, first for any number of tokens from outside, then within the bounds if they are still undecided. */
  async #decideBySolver(
    property: SearchedProperty,
    before: PropertyResult,
  ): Promise<PropertyResult> {
    const { solver = anySolver(), solverLimits = {}, signal } = this.#options;
    const startedAt = performance.now();
    const bounded = before.verdict === 'unknown' && this.#net.environment.length > 0;
    const reasons: string[] = before.reason === undefined ? [] : [before.reason];
    for (const boundedEnvironment of bounded ? [false, true] : [false]) {
      if (this.#run.endReason !== undefined) break;
      const query = encodeProperty(this.#net, property, boundedEnvironment);
      if ('reason' in query) {
        reasons.push(query.reason);
        break;
      }
      const solved = await solver.ask(query.text, omitUndefined({ signal, ...solverLimits }));
      const durationMs = before.durationMs + performance.now() - startedAt;
      if (solved.answer === 'sat') {
        const { by } = solved;
        const { over } = query;
        const { states } = before;
        // A proof beyond the bounds keeps what the search within them reached.
        const { unreached = before.verdict === 'proved' ? [] : await this.#exploreBriefly() } =
          before;
        return {
          property,
          verdict: 'proved',
          by,
          over,
          states,
          durationMs,
          ...(unreached.length > 0 && { unreached }),
        };
      }
      reasons.push(
        solved.answer === 'unsat'
          ? 'the solver ignores keys, ages and phases and found a possible violation, which is inconclusive'
          : `${solved.by}: ${solved.reason}`,
      );
    }
    if (before.verdict !== 'unknown') return before;
    const durationMs = before.durationMs + performance.now() - startedAt;
    const reason = this.#run.endReason ?? [...new Set(reasons)].join('; ');
    return { ...before, durationMs, reason };
  }
}

type Facts = Omit<PropertyResult, 'verdict'>;

/** A property and its result. */
type Decision = readonly [property: SearchedProperty, result: PropertyResult];

function toResult(
  facts: Facts,
  finding: Exclude<Finding, { readonly verdict: 'broken' | 'unknown' }>,
  unreached: readonly string[],
): PropertyResult {
  if (finding.verdict === 'holds')
    return { ...facts, verdict: 'proved', ...(unreached.length > 0 && { unreached }) };
  return { ...facts, verdict: 'refuted', reason: `never fires: ${finding.transitions.join(', ')}` };
}

function notSearched(property: Property): PropertyResult {
  return { property, verdict: 'unknown', by: 'solver', over: [], states: 0, durationMs: 0 };
}

/** Returns the refutation of a property if the executor can follow its path; otherwise the verdict is `unknown`. */
function refuted(facts: Facts, system: TransitionSystem, path: Path): PropertyResult {
  try {
    replay(system, path);
    return { ...facts, verdict: 'refuted', trace: toTrace(system, path) };
  } catch (error) {
    if (!(error instanceof ReplayError)) throw error;
    return { ...facts, verdict: 'unknown', reason: error.message };
  }
}
