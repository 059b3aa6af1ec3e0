import { omitUndefined } from '../../core/internal.ts';
import { UNLIMITED } from '../properties/bounds.ts';
import type { Property } from '../properties/property.ts';
import type { ExpandedNet, ExpandedTransition } from '../system/expand.ts';
import { hasBrokenKey } from '../system/has-broken-key.ts';
import type { ComponentTree } from './contract.ts';
import { decideAtMost } from './decide-count.ts';
import { decideBound, decideMutualExclusion, decideUnreachable } from './decide-marking.ts';
import { decideNeverTakes } from './decide-never-takes.ts';
import { decideResting } from './decide-resting.ts';
import { decideNeverAfter, decideNeverStale, decidePrecedes } from './decide-steps.ts';
import { decideAll, leaveOpen } from './decision.ts';
import type { Decision } from './decision.ts';
import { PartViews } from './part-views.ts';
import type { Searched } from './part-views.ts';
import { CORE } from './net-parts.ts';
import type { NetPart } from './net-parts.ts';
import { listMoves } from './view.ts';
import type { View } from './view.ts';
import type { ViewLimits, ViewOutcome } from './view-search.ts';

/** The result of the proof of one contract, or of the core. */
export interface ContractResult {
  readonly component: string;
  readonly verdict: 'proved' | 'unknown';
  /** The number of states visited. */
  readonly states: number;
  /** The component whose proof is used, because the two are equal up to names. */
  readonly sameAs?: string;
  /** Why the contract is not proved. */
  readonly reason?: string;
}

/** A view with more states is searched with its places in groups, if it has groups. */
const MOST_WITHOUT_GROUPS = 20_000;

/**
 * Proves the contracts of a net's components, each in a view of the net that keeps only the places of the component, and
 * then properties in these views. Components that are equal up to names are searched once.
 */
export class ContractCheck {
  readonly #tree: ComponentTree;
  readonly #views: PartViews;
  readonly #mostWithoutGroups: number;
  /** By part: the search of its contract. */
  readonly #outcomes = new Map<NetPart, ViewOutcome>();
  readonly #unfired = new Set<number>();
  #results: readonly ContractResult[] = [];
  #exact: ContractCheck | undefined;

  /**
   * @param mostWithoutGroups a view with more states than this is searched with its places in groups; `Infinity`: none is
   * @param keepsInputs true for views that have all inputs from outside
   * @throws UnknownNameError if the tree names a place or transition that the net does not have.
   * @throws InvalidContractError if a contract contradicts itself.
   */
  constructor(
    net: ExpandedNet,
    tree: ComponentTree,
    limits: ViewLimits,
    mostWithoutGroups: number = MOST_WITHOUT_GROUPS,
    keepsInputs: boolean = false,
  ) {
    this.#tree = tree;
    this.#views = new PartViews(net, tree, limits, keepsInputs);
    this.#mostWithoutGroups = mostWithoutGroups;
  }

  /** Proves the contracts one by one, up to the first that is not proved. Then no property can be decided. */
  *prove(): Generator<ContractResult> {
    const results: ContractResult[] = [];
    this.#results = results;
    const { net, parts } = this.#views;
    if (net.faults !== UNLIMITED && hasBrokenKey(net)) {
      const reason = 'views do not see the faults of an initial token whose key function throws';
      const result = { component: CORE, verdict: 'unknown', states: 0, reason } as const;
      results.push(result);
      yield result;
      return;
    }
    for (const part of parts) {
      const result = this.#proveContract(part);
      results.push(result);
      yield result;
      if (result.verdict !== 'proved') return;
    }
  }

  #proveContract(part: NetPart): ContractResult {
    const { view, outcome, component } = this.#searchContract(part);
    const { problem } = outcome;
    if (problem !== undefined && this.#views.leftOut.size > 0) return this.#proveWithInputs(part);
    this.#outcomes.set(part, outcome);
    this.#addUnfired(part, view, outcome);
    return {
      component: part.name,
      states: component === part.name ? outcome.states : 0,
      ...omitUndefined({ sameAs: component === part.name ? undefined : component }),
      ...(problem === undefined ? { verdict: 'proved' } : { verdict: 'unknown', reason: problem }),
    };
  }

  /** Proves the contracts up to this one again, in views that have all inputs from outside. */
  #proveWithInputs(part: NetPart): ContractResult {
    this.#views.keepInputs();
    this.#outcomes.clear();
    this.#unfired.clear();
    for (const one of this.#views.parts) {
      const result = this.#proveContract(one);
      if (one === part || result.verdict !== 'proved') return result;
    }
    return { component: part.name, states: 0, verdict: 'unknown' };
  }

  /** Searches the view of a part: as it is, then with groups if it has many states, then with the tokens of budgets. */
  #searchContract(part: NetPart): Searched & { readonly view: View } {
    const views = this.#views;
    const attempt = (states = views.limits.states): Searched & { readonly view: View } => {
      const view = views.view(part);
      return { view, ...views.search(part, view, 'contract', { asked: [] }, states) };
    };
    const isDone = ({ outcome }: Searched): boolean => outcome.problem === undefined;
    const states = Math.min(views.limits.states, this.#mostWithoutGroups);
    if (Number.isFinite(this.#mostWithoutGroups) && views.listGroups(part).length > 0) {
      const first = attempt(states);
      if (isDone(first)) return first;
      if (first.outcome.states > states) {
        views.grouped.add(part);
        const grouped = attempt();
        if (isDone(grouped)) return grouped;
        views.grouped.delete(part);
      }
    }
    const found = attempt();
    if (isDone(found) || !views.hasBudgets) return found;
    views.countsBudgets.add(part);
    return attempt();
  }

  /** True if some view counts the tokens of several places together. Then `unfired` may leave out transitions. */
  get hasGroups(): boolean {
    return this.#views.grouped.size > 0;
  }

  /**
   * The indexes of the transitions that some searched view has, but never fires. The net does not fire them either,
   * because a view fires whatever the net fires.
   */
  get unfired(): ReadonlySet<number> {
    return this.#unfired;
  }

  #addUnfired(part: NetPart, view: View, { moved }: ViewOutcome): void {
    const { transitions } = this.#views.net;
    const moves = listMoves(view);
    const fired = new Set(moves.flatMap(({ begins }, index) => (moved.has(index) ? begins : [])));
    for (const t of [
      ...moves.flatMap(({ begins }) => begins),
      ...[...part.transitions].filter((index) => hasNoMove(transitions[index])),
    ])
      if (!fired.has(t)) this.#unfired.add(t);
  }

  /** Decides a property on the proved contracts. It may hold even if the decision is that it is unknown. */
  decide(property: Property): Decision {
    const { parts, countsBudgets, hasBudgets } = this.#views;
    if (
      this.#results.length < parts.length ||
      this.#results.some(({ verdict }) => verdict !== 'proved')
    )
      return leaveOpen('a contract is not proved');
    const decision = this.#decideInViews(property);
    if (decision === undefined)
      return leaveOpen(`contracts do not decide a property of kind ${property.kind}`);
    const inexact = parts.filter((part) => !countsBudgets.has(part));
    if (decision.holds) return decision;
    if (this.hasGroups || this.#views.leftOut.size > 0) return this.#decideExactly(property);
    if (!hasBudgets || inexact.length === 0) return decision;
    for (const part of inexact) countsBudgets.add(part);
    const exact = this.#decideInViews(property);
    for (const part of inexact) countsBudgets.delete(part);
    return exact ?? decision;
  }

  /** Decides a property in views without groups, and with all inputs from outside. */
  #decideExactly(property: Property): Decision {
    if (this.#exact === undefined) {
      const { net, limits } = this.#views;
      const most = Number.POSITIVE_INFINITY;
      this.#exact = new ContractCheck(net, this.#tree, limits, most, true);
      for (const { verdict } of this.#exact.prove()) if (verdict !== 'proved') break;
    }
    return this.#exact.decide(property);
  }

  /** Undefined for a property that views do not decide. */
  #decideInViews(property: Property): Decision | undefined {
    const views = this.#views;
    switch (property.kind) {
      case 'deadlockFree':
        return decideResting(views, this.#outcomes, property.resting);
      case 'unreachable':
        return decideUnreachable(views, property.marked, property.empty);
      case 'mutualExclusion':
        return decideMutualExclusion(views, property.places);
      case 'placeBound': {
        const { places, max, each } = property;
        return each === true
          ? decideAll(places.map((place) => () => decideBound(views, [place], max)))
          : decideBound(views, places, max);
      }
      case 'atMost':
        return decideAtMost(views, property);
      case 'neverFiresAfter':
        return decideNeverAfter(views, property);
      case 'precedes':
        return decidePrecedes(views, property);
      case 'neverStale':
        return decideNeverStale(views, property);
      case 'neverTakes':
        return decideNeverTakes(views, property.by, property.places);
      default:
        return undefined;
    }
  }
}

/** True for a transition that waits without end, or that has no outcome within the bounds. */
function hasNoMove(t: ExpandedTransition | undefined): boolean {
  return t?.timed === 'never' || (t?.kind === 'pure' && t.alternatives.length === 0);
}
