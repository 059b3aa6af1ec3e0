import { omitUndefined } from '../core/internal.ts';
import type { CompiledNet } from '../net/index.ts';
import { TokenClasses } from './system/token-classes.ts';
import type { Bounds } from './properties/bounds.ts';
import type { ContractResult } from './contracts/contract-check.ts';
import type { ComponentTree } from './contracts/contract.ts';
import { decideByContracts } from './decide-by-contracts.ts';
import { expand } from './system/expand.ts';
import type { ExpandedNet } from './system/expand.ts';
import { listLabels } from './search/property-labels.ts';
import { proofCacheKey } from './proof-cache.ts';
import type { ProofCache } from './proof-cache.ts';
import type { Property, SearchedProperty } from './properties/property.ts';
import { isRefutation } from './replay/follow-trace.ts';
import type { ProofReport, PropertyResult } from './report.ts';
import type { Solver, SolverLimits } from './smt/solver.ts';
import { createMonitor } from './search/property-monitor.ts';
import { Derivations } from './derivations.ts';
import type { Reductions } from './reduction/reductions.ts';
import { ProofRun } from './progress.ts';
import { Coverage, listAssumptions } from './coverage.ts';
import { SearchProof } from './search-proof.ts';
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
  /** The reductions of a search. Default: all. */
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
  const derivations = new Derivations(net, options);
  const { onResult = () => {} } = options;
  derivations.takeKnown().forEach(onResult);
  const run = new ProofRun({
    ...options,
    onResult: (result) => derivations.add(result).forEach(onResult),
  });
  const [plain, ...labeled] = groupByLabels(net, derivations.searched);
  // These come last, but a violation near the start is not kept waiting by searches of all states.
  const refuted = plain.properties.length > 0 ? await refuteNear(net, labeled, options, run) : [];
  const reports: ProofReport[] = [];
  for (const { labels, properties } of [plain, ...labeled]) {
    const open = properties.filter((property) => !refuted.includes(property));
    reports.push(await proveSearched(net, labels, { ...options, properties: open }, run));
  }
  return { ...mergeReports(reports), results: derivations.results() };
}

/** The states of one search for violations near the start. */
const MAX_NEAR_STATES = 8_000;

/** Reports and returns the properties with labels that few states refute. */
async function refuteNear(
  net: CompiledNet,
  groups: readonly LabelGroup[],
  options: ProveOptions,
  run: ProofRun,
): Promise<readonly SearchedProperty[]> {
  const { bounds = {}, route, cache } = options;
  if (route === 'solver') return [];
  const states = Math.min(bounds.states ?? MAX_NEAR_STATES, MAX_NEAR_STATES);
  const refuted: SearchedProperty[] = [];
  for (const { labels, properties } of groups) {
    if (run.endReason !== undefined) break;
    const expanded = expand(net, bounds, labels);
    const open = properties.filter(
      (property) => cache?.get(proofCacheKey(expanded, options, property)) === undefined,
    );
    if (open.length === 0) continue;
    const near = new ProofRun({
      ...options,
      onResult: (result) => {
        if (result.verdict !== 'refuted') return;
        refuted.push(...open.filter((property) => property === result.property));
        run.report(result);
      },
    });
    const limits = { bounds: { ...bounds, states }, route: 'search', beyondBounds: false } as const;
    await proveSearched(net, labels, { ...options, ...limits, properties: open }, near);
  }
  return refuted;
}

interface LabelGroup {
  readonly labels: readonly string[];
  readonly properties: readonly SearchedProperty[];
}

/**
 * Groups properties by the labels that they name. The first group names none. So a search follows a label only for the
 * properties that name it.
 */
function groupByLabels(
  net: CompiledNet,
  properties: readonly SearchedProperty[],
): readonly [LabelGroup, ...LabelGroup[]] {
  const groups = new Map<string, { labels: readonly string[]; properties: SearchedProperty[] }>();
  const plain: SearchedProperty[] = [];
  for (const property of properties) {
    const labels = listLabels(net, property);
    const key = JSON.stringify(labels);
    const group = groups.get(key) ?? { labels, properties: [] };
    if (labels.length === 0) plain.push(property);
    else groups.set(key, group);
    group.properties.push(property);
  }
  return [{ labels: [], properties: plain }, ...groups.values()];
}

/** The report of all groups: what none of them fired is unfired. */
function mergeReports(reports: readonly ProofReport[]): ProofReport {
  const [first, ...others] = reports;
  if (first === undefined) throw new RangeError('a proof has at least one group of properties');
  const explored = reports.flatMap(({ unfired }) => (unfired === undefined ? [] : [unfired]));
  const unfired = explored[0]?.filter((name) => explored.every((names) => names.includes(name)));
  return {
    ...first,
    durationMs: reports.reduce((sum, { durationMs }) => sum + durationMs, 0),
    assumptions: (others.at(-1) ?? first).assumptions,
    ...omitUndefined({ unfired }),
  };
}

type SearchedOptions = Omit<ProveOptions, 'properties'> & {
  readonly properties: readonly SearchedProperty[];
};

async function proveSearched(
  net: CompiledNet,
  labels: readonly string[],
  options: SearchedOptions,
  run: ProofRun,
): Promise<ProofReport> {
  const startedAt = performance.now();
  const { properties, bounds = {}, cache } = options;
  const expanded = expand(net, bounds, labels);
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
  // Views of components do not see labels.
  const hasViews = components !== undefined && labels.length === 0;
  if (hasViews && route !== 'solver' && !beyondBounds && undecided.length > 0) {
    const question = { components, properties: undecided, bounds, signal };
    const answer = await decideByContracts(expanded, question, run, coverage);
    contracts = answer.contracts;
    for (const [property, result] of answer.proved) keep(property, result);
  }
  const open = monitors.filter(({ property }) => !results.has(property));
  const together = open.filter(({ next }) => next === undefined);
  const alone = open.filter(({ next }) => next !== undefined);
  const groups = [together, ...alone.map((one) => [one])];
  const proof = new SearchProof(expanded, options, run, coverage);
  const decisions = proof.decide(
    groups.map((group) => group.map(({ property }) => property)).filter(({ length }) => length > 0),
  );
  for await (const [property, found] of decisions) {
    const result = await settling.recheck(property, found);
    keep(property, result);
    run.report(result);
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
