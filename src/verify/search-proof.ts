import type { Coverage } from './coverage.ts';
import { decideFirings } from './decide-firings.ts';
import { decideBySolver } from './decide-by-solver.ts';
import type { SolverOptions } from './decide-by-solver.ts';
import type { ProofRun } from './progress.ts';
import { DEFAULT_STATES } from './properties/bounds.ts';
import type { Bounds } from './properties/bounds.ts';
import type { Property, SearchedProperty } from './properties/property.ts';
import { ReplayError } from './properties/verify-errors.ts';
import type { Reductions } from './reduction/reductions.ts';
import { searchSlices } from './reduction/search-slices.ts';
import { listSmallerNets } from './reduction/smaller-bounds.ts';
import { replay } from './replay/replay.ts';
import type { PropertyResult } from './report.ts';
import { confirmTrap } from './search/confirm-trap.ts';
import { findOrderedPath } from './search/ordered-path.ts';
import { createMonitor } from './search/property-monitor.ts';
import { search } from './search/search.ts';
import type { Finding, Path, SearchLimits, SearchOutcome } from './search/search.ts';
import type { ExpandedNet } from './system/expand.ts';
import { TokenClasses } from './system/token-classes.ts';
import { TransitionSystem } from './system/transition-system.ts';
import { toTrace } from './trace/trace.ts';

/** How properties are decided by searches and solvers. */
export interface SearchProofOptions extends SolverOptions {
  readonly route?: 'portfolio' | 'search' | 'solver';
  readonly beyondBounds?: boolean;
  readonly reductions?: Reductions;
}

/** A property and its result. */
type Decision = readonly [property: SearchedProperty, result: PropertyResult];

/** Properties that can share a search. */
type Group = readonly SearchedProperty[];

/** Yields the properties that it decides. Returns the others. */
type Stage = (group: Group) => AsyncGenerator<Decision, Group>;

type Facts = Omit<PropertyResult, 'verdict'> & { readonly property: SearchedProperty };

/** The states of the whole net after which the reductions of a search are tried. */
const DEFAULT_AFTER = 5_000;
/** A search within smaller bounds that visits more states is given up. */
const MAX_SMALLER_STATES = 8_000;

/** With keys, the search in the order of ages often has far fewer states, so it is tried first, up to this many. */
const MAX_FEW_ORDERED_STATES = 1_000;

/** A system, its monitors, and what its search found. */
interface Searched {
  readonly system: TransitionSystem;
  readonly outcome: SearchOutcome;
}

/** Decides properties of one net by searches, and by a solver where a search gives up. */
export class SearchProof {
  readonly #net: ExpandedNet;
  readonly #bounds: Bounds;
  readonly #options: SearchProofOptions;
  readonly #run: ProofRun;
  readonly #coverage: Coverage;

  constructor(net: ExpandedNet, options: SearchProofOptions, run: ProofRun, coverage: Coverage) {
    this.#net = net;
    this.#run = run;
    this.#options = options;
    this.#bounds = options.bounds ?? {};
    this.#coverage = coverage;
  }

  /** Decides properties. Those of one group can share a search. */
  async *decide(groups: readonly Group[]): AsyncGenerator<Decision> {
    const { route = 'portfolio', beyondBounds = false } = this.#options;
    for await (const [property, result] of this.#searchAll(groups)) {
      const needsSolver =
        (result.verdict === 'unknown' && route !== 'search') ||
        (result.verdict === 'proved' && beyondBounds);
      yield [
        property,
        needsSolver
          ? await decideBySolver(
              this.#net,
              property,
              result,
              this.#options,
              this.#run,
              this.#coverage,
            )
          : result,
      ];
    }
  }

  /** Searches for what needs few states first, for all groups: the whole net is searched last. */
  async *#searchAll(groups: readonly Group[]): AsyncGenerator<Decision> {
    let open = groups;
    for (const stage of this.#listStages()) {
      const left: Group[] = [];
      for (const group of open) {
        const { endReason } = this.#run;
        if (endReason === undefined) left.push(yield* stage(group));
        else yield* group.map((one) => this.#notDecided(one, endReason));
      }
      open = left.filter((group) => group.length > 0);
    }
  }

  #listStages(): readonly Stage[] {
    const { route, reductions = {} } = this.#options;
    const { after = DEFAULT_AFTER, smallerBounds = true, slicing = true } = reductions;
    const limits = this.#bounds;
    const { states = DEFAULT_STATES } = limits;
    if (route === 'solver') return [(group) => this.#skip(group)];
    const first: Stage = (group) => this.#searchWhole(group, { ...limits, states: after }, false);
    const hasLabels = this.#net.tracked.labels.length > 0;
    const nets = smallerBounds ? listSmallerNets(this.#net, limits) : [];
    return [
      ...(after < states ? [(group: Group) => this.#searchFirings(group)] : []),
      ...(after > 0 && after < states ? [first] : []),
      ...nets.map(
        (net): Stage =>
          (group) =>
            this.#searchSmallerNet(net, group),
      ),
      // Slices do not see labels.
      ...(slicing && !hasLabels ? [(group: Group) => this.#searchSlices(group)] : []),
      ...(this.#net.keys.domains > 0 ? [(group: Group) => this.#searchFewInOrder(group)] : []),
      (group) => this.#searchWhole(group, limits, true),
    ];
  }

  async *#skip(group: Group): AsyncGenerator<Decision, Group> {
    yield* group.map((one): Decision => [one, notSearched(one)]);
    return [];
  }

  /** Yields the properties that a search of the whole net decides; all of them, if it is the last. Returns the others. */
  async *#searchWhole(
    group: Group,
    limits: SearchLimits,
    isLast: boolean,
  ): AsyncGenerator<Decision, Group> {
    const startedAt = performance.now();
    const over = this.#net.statement;
    if (
      (this.#options.reductions?.anyOrder === false || this.#net.tracked.labels.length > 0) &&
      group.some((one) => this.#needsOrder(one))
    ) {
      if (!isLast) return group;
      for (const property of group)
        yield [property, await this.#searchOrdered(property, this.#noFacts(property))];
      return [];
    }
    const { system, outcome } = await this.#search(this.#net, group, limits);
    const unreached = this.#coverage.add(outcome);
    const durationMs = performance.now() - startedAt;
    const open: SearchedProperty[] = [];
    for (const [index, property] of group.entries()) {
      const finding = outcome.findings[index] ?? { verdict: 'unknown', reason: '' };
      const facts = { property, by: 'search', over, states: outcome.states, durationMs };
      const result = this.#toResult(facts, system, finding, unreached);
      if (result !== undefined) yield [property, result];
      else if (!isLast && finding.verdict === 'unknown') open.push(property);
      else {
        const reason = finding.verdict === 'unknown' ? finding.reason : undefined;
        yield [property, await this.#searchOrdered(property, facts, reason)];
      }
    }
    return open;
  }

  /** Yields the `canFire` properties that runs or slices decide. Returns the others. */
  async *#searchFirings(group: Group): AsyncGenerator<Decision, Group> {
    const slices = this.#options.reductions?.slicing !== false;
    const question = { bounds: this.#bounds, slices };
    const open: SearchedProperty[] = [];
    for (const property of group) {
      const result =
        property.kind === 'canFire'
          ? await decideFirings(this.#net, property, question, this.#run, this.#coverage)
          : undefined;
      if (result === undefined) open.push(property);
      else yield [property, result];
    }
    return open;
  }

  /** Yields the properties that are violated within smaller bounds. Returns the others. */
  async *#searchSmallerNet(net: ExpandedNet, group: Group): AsyncGenerator<Decision, Group> {
    // More steps may lead to an event that these bounds exclude.
    const asked = group.filter(({ kind }) => kind !== 'eventually' && kind !== 'canFire');
    if (asked.length === 0) return group;
    const startedAt = performance.now();
    const states = Math.min(MAX_SMALLER_STATES, this.#bounds.states ?? MAX_SMALLER_STATES);
    const { system, outcome } = await this.#search(net, asked, { ...this.#bounds, states });
    this.#coverage.addBegun(outcome.begun);
    const found = new Set<SearchedProperty>();
    for (const [index, property] of asked.entries()) {
      const finding = outcome.findings[index];
      if (finding?.verdict !== 'broken') continue;
      const facts = {
        property,
        by: 'search within smaller bounds',
        over: this.#net.statement,
        states: outcome.states,
        durationMs: performance.now() - startedAt,
      };
      const result = refuteAnyOrder(facts, system, finding.path);
      if (result?.verdict !== 'refuted') continue;
      found.add(property);
      yield [property, result];
    }
    return group.filter((property) => !found.has(property));
  }

  /** Yields the properties that a slice of the net proves. Returns the others. */
  async *#searchSlices(group: Group): AsyncGenerator<Decision, Group> {
    const open: SearchedProperty[] = [];
    for (const property of group) {
      const startedAt = performance.now();
      const onPause = this.#run.onPause([property]);
      const found = await searchSlices(this.#net, property, onPause, this.#bounds.states);
      if (found === undefined) {
        open.push(property);
        continue;
      }
      const over = this.#net.statement;
      const { states } = found;
      const unreached = await this.#coverage.explore(this.#bounds, onPause);
      const durationMs = performance.now() - startedAt;
      const facts = { property, by: 'search of a slice', over, states, durationMs };
      yield [property, toProved(facts, unreached)];
    }
    return open;
  }

  /** Yields the properties that few states decide, with the ages of tokens. Returns the others. */
  async *#searchFewInOrder(group: Group): AsyncGenerator<Decision, Group> {
    const { states = DEFAULT_STATES } = this.#bounds;
    const limits = { ...this.#bounds, states: Math.min(states, MAX_FEW_ORDERED_STATES) };
    const open: SearchedProperty[] = [];
    for (const property of group) {
      const result = await this.#searchInOrder(this.#noFacts(property), limits);
      if (result.verdict === 'unknown') open.push(property);
      else yield [property, result];
    }
    return open;
  }

  #needsOrder(property: SearchedProperty): boolean {
    return createMonitor(this.#net, new TokenClasses(), property).needsOrder;
  }

  /** Searches a net, with any order among equals. */
  async #search(
    net: ExpandedNet,
    properties: readonly SearchedProperty[],
    limits: SearchLimits,
  ): Promise<Searched> {
    const tokenClasses = new TokenClasses();
    const monitors = properties.map((property) => createMonitor(net, tokenClasses, property));
    const outlets = new Set(monitors.flatMap((monitor) => [...monitor.outlets]));
    const system = new TransitionSystem(net, 'unordered', outlets, tokenClasses);
    const onPause = this.#run.onPause(properties);
    return { system, outcome: await search(system, monitors, limits, onPause) };
  }

  /** Returns the result that a finding with any order among equals shows, if it does. */
  #toResult(
    facts: Facts,
    system: TransitionSystem,
    finding: Finding,
    unreached: readonly string[],
  ): PropertyResult | undefined {
    const { verdict } = finding;
    if (verdict === 'unknown') return undefined;
    if (verdict === 'missing') return neverFires(facts, finding.transitions);
    if (verdict === 'broken') {
      const { path } = finding;
      return isTrap(facts.property, path)
        ? refuteTrap(facts, system, path)
        : refuteAnyOrder(facts, system, path);
    }
    if (finding.witnesses === undefined) return toProved(facts, unreached);
    const ordered = toOrdered(system);
    const isReal = (path: Path): boolean => findOrderedPath(system, ordered, path) !== undefined;
    // What can fire is shown by its path, whatever else is not reached.
    return finding.witnesses.every(isReal) ? toProved(facts, []) : undefined;
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
    const result = await this.#searchInOrder({ ...before, property }, this.#bounds);
    if (result.verdict !== 'unknown') return result;
    const reasons = [gaveUp, result.reason].filter((one) => one !== undefined);
    return { ...result, reason: [...new Set(reasons)].join('; ') };
  }

  /** Searches with the ages of tokens. */
  async #searchInOrder(before: Facts, limits: SearchLimits): Promise<PropertyResult> {
    const { property } = before;
    const startedAt = performance.now();
    const tokenClasses = new TokenClasses();
    const monitor = createMonitor(this.#net, tokenClasses, property);
    const system = new TransitionSystem(this.#net, 'ordered', monitor.outlets, tokenClasses);
    const onPause = this.#run.onPause([property]);
    const outcome = await search(system, [monitor], limits, onPause);
    const { findings, states } = outcome;
    const unreached = this.#coverage.add(outcome);
    const facts = {
      ...before,
      by: 'search in the order of ages',
      states,
      durationMs: before.durationMs + performance.now() - startedAt,
    };
    const [finding] = findings;
    if (finding?.verdict === 'holds')
      return toProved(facts, finding.witnesses === undefined ? unreached : []);
    if (finding?.verdict === 'missing') return neverFires(facts, finding.transitions);
    if (finding?.verdict === 'broken') return refuted(facts, system, finding.path);
    return { ...facts, verdict: 'unknown', reason: finding?.reason ?? '' };
  }

  #noFacts(property: SearchedProperty): Facts {
    return { property, by: 'search', over: this.#net.statement, states: 0, durationMs: 0 };
  }

  #notDecided(property: SearchedProperty, reason: string): Decision {
    const over = this.#net.statement;
    return [property, { ...notSearched(property), by: 'not searched', over, reason }];
  }
}

function toProved(facts: Facts, unreached: readonly string[]): PropertyResult {
  return { ...facts, verdict: 'proved', ...(unreached.length > 0 && { unreached }) };
}

function neverFires(facts: Facts, transitions: readonly string[]): PropertyResult {
  return { ...facts, verdict: 'refuted', reason: `never fires: ${transitions.join(', ')}` };
}

function notSearched(property: Property): PropertyResult {
  return { property, verdict: 'unknown', by: 'solver', over: [], states: 0, durationMs: 0 };
}

function toOrdered({ net, tokenClasses, countedOutlets }: TransitionSystem): TransitionSystem {
  return new TransitionSystem(net, 'ordered', countedOutlets, tokenClasses);
}

/** True for a path into states from which the event of the property may never happen. */
function isTrap({ kind }: Property, { cycleFrom }: Path): boolean {
  return kind === 'eventually' && cycleFrom !== undefined;
}

/** Returns the refutation by a path into a trap, if it is also one with the ages of tokens: they may show a way out. */
function refuteTrap(
  facts: Facts,
  system: TransitionSystem,
  { states, moves, cycleFrom = moves.length }: Path,
): PropertyResult | undefined {
  const ordered = toOrdered(system);
  const into = { states: states.slice(0, cycleFrom + 1), moves: moves.slice(0, cycleFrom) };
  const path = findOrderedPath(system, ordered, into);
  const monitor = createMonitor(system.net, system.tokenClasses, facts.property);
  const trap = path && confirmTrap(ordered, monitor, path);
  return trap && refuted(facts, ordered, trap);
}

/** Returns the refutation by a path with any order among equals, if the executor chooses such an order. */
function refuteAnyOrder(
  facts: Facts,
  system: TransitionSystem,
  found: Path,
): PropertyResult | undefined {
  const ordered = toOrdered(system);
  const path = findOrderedPath(system, ordered, found);
  return path && refuted(facts, ordered, path);
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
