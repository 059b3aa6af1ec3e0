import { omitUndefined } from '../../core/internal.ts';
import type { CompiledNet } from '../../net/index.ts';
import type {
  AtMost,
  NeverStale,
  Precedes,
  Property,
  QuiescentMarking,
} from '../properties/property.ts';
import { UnknownNameError } from '../properties/verify-errors.ts';
import type { ExpandedNet, ExpandedTransition } from '../system/expand.ts';
import { UNLIMITED } from '../properties/bounds.ts';
import { hasBrokenKey } from '../system/has-broken-key.ts';
import type { ChildActivity } from './child-activity.ts';
import { combineStates } from './combine-states.ts';
import type { StateTree } from './combine-states.ts';
import type { NetComponent, ComponentTree } from './contract.ts';
import { findLiveParts } from './live-parts.ts';
import type { LiveParts } from './live-parts.ts';
import { groupPlaces } from './place-groups.ts';
import { findTokenSums } from './token-sums.ts';
import type { TokenSum } from './token-sums.ts';
import { createView, isBudget, listMembers, listMoves } from './view.ts';
import {
  createCostMonitor,
  createIntervalMonitor,
  createOrderMonitor,
  createStaleMonitor,
  nameCost,
  nameEvents,
  noMonitor,
  RENEWS,
} from './view-monitors.ts';
import type { ObservedContract, View, ViewStep } from './view.ts';
import { searchView } from './view-search.ts';
import type { ViewSymmetry } from './view-symmetry.ts';
import type {
  ViewLimits,
  ViewMonitor,
  ViewOutcome,
  ViewQuestion,
  ViewState,
} from './view-search.ts';

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

/** The result for a property: `states` is the number of states visited for it alone. */
export type Decision =
  | { readonly holds: true; readonly states: number }
  | { readonly holds: false; readonly reason: string };

/** A component with what its proof looks at. */
interface Part {
  readonly name: string;
  readonly own: NetComponent | undefined;
  readonly children: readonly Part[];
  readonly depth: number;
  /** Indexes of the places that it keeps beside the shared ones. */
  readonly places: readonly number[];
  /** Indexes of its transitions, without those of its children. */
  readonly transitions: ReadonlySet<number>;
  readonly inside: ReadonlySet<number>;
}

/** How a view of a part counts places. */
interface Layout {
  /** By position in the view: the places whose tokens are counted there. */
  readonly members: readonly (readonly number[])[];
  readonly positions: ReadonlyMap<number, number>;
  readonly groups: readonly (readonly number[])[];
  readonly sums: readonly TokenSum[];
}

/** What a view is asked. */
interface ViewRequest {
  /** Places that the view sees tokens arrive at, although it does not count them. */
  readonly tracked?: readonly number[];
  readonly watch?: (step: ViewStep) => readonly string[];
  /** Places whose tokens must be counted even if no transition does. */
  readonly counted?: ReadonlySet<number>;
  /** Places that are in no group. */
  readonly apart?: readonly number[];
  /** What is known of the children with counted steps inside. */
  readonly activities?: ReadonlyMap<Part, ChildActivity>;
}

/** A question about the steps of several components. */
interface StepQuestion {
  readonly about: readonly unknown[];
  /** The transitions whose firings it counts, wherever they happen. */
  readonly counted: ReadonlySet<number>;
  /** A transition that must come first, whose firings it counts, too. */
  readonly first?: number | undefined;
  /** More names of a step that the view of a part watches. */
  readonly watch: (part: Part, step: ViewStep) => readonly string[];
  readonly tracked?: readonly number[];
  /** Places whose tokens its monitor looks at, if the view of a part has them. */
  readonly apart: readonly number[];
  /** The monitor of the view of a part that answers the question. */
  readonly answers: (part: Part, view: View) => ViewMonitor;
  /** The monitor of the view of a part that is below the one that answers the question. */
  readonly below: (part: Part, view: View) => ViewMonitor;
}

interface Searched {
  readonly outcome: ViewOutcome;
  readonly component: string;
}

const NO_ATTEMPTS = 'contracts do not see the attempts of an effect';
/** The name of the part of a net that is in no component. */
const CORE = 'core';
/** Counts are compared between views up to this number, which then means this many or more. */
const MOST_COMPARED = 2;
/** A view with more states is searched with its places in groups, if it has groups. */
const MOST_WITHOUT_GROUPS = 20_000;
/** More states of one component are not combined with those of others. */
const MAX_COLLECTED = 200_000;

/**
 * Proves the contracts of a net's components, each in a view of the net that keeps only the places of the component, and
 * then properties in these views. Components that are equal up to names are searched once.
 */
export class ContractCheck {
  readonly #net: ExpandedNet;
  readonly #tree: ComponentTree;
  readonly #limits: ViewLimits;
  readonly #mostWithoutGroups: number;
  readonly #live: LiveParts;
  readonly #shared: readonly number[];
  readonly #core: Part;
  readonly #parts: readonly Part[];
  readonly #searched = new Map<string, Searched>();
  readonly #resting = new Map<Part, readonly ViewState[]>();
  readonly #symmetries = new Map<Part, ViewSymmetry>();
  readonly #unfired = new Set<number>();
  #results: readonly ContractResult[] = [];
  /** The parts whose views count the tokens of every budget. */
  readonly #countsBudgets = new Set<Part>();
  /** The parts whose views count the tokens of several places together. */
  readonly #grouped = new Set<Part>();
  readonly #layouts = new Map<string, Layout>();
  #withoutGroups: ContractCheck | undefined;

  /**
   * @param mostWithoutGroups a view with more states than this is searched with its places in groups; `Infinity`: none is
   * @throws UnknownNameError if the tree names a place or transition that the net does not have.
   */
  constructor(
    net: ExpandedNet,
    tree: ComponentTree,
    limits: ViewLimits,
    mostWithoutGroups: number = MOST_WITHOUT_GROUPS,
  ) {
    this.#net = net;
    this.#tree = tree;
    this.#mostWithoutGroups = mostWithoutGroups;
    this.#limits = limits;
    this.#live = findLiveParts(net);
    this.#shared = tree.shared.map((name) => this.#place(name));
    this.#core = this.#createCore(tree);
    this.#parts = listParts(this.#core);
  }

  /** Proves the contracts one by one, up to the first that is not proved. Then no property can be decided. */
  *prove(): Generator<ContractResult> {
    const results: ContractResult[] = [];
    this.#results = results;
    if (this.#net.faults !== UNLIMITED && hasBrokenKey(this.#net)) {
      const reason = 'views do not see the faults of an initial token whose key function throws';
      const result = { component: CORE, verdict: 'unknown', states: 0, reason } as const;
      results.push(result);
      yield result;
      return;
    }
    for (const part of this.#parts) {
      const { view, outcome, component } = this.#searchContract(part);
      this.#resting.set(part, outcome.collected);
      this.#symmetries.set(part, outcome.symmetry);
      this.#addUnfired(part, view, outcome);
      const { problem } = outcome;
      const result: ContractResult = {
        component: part.name,
        states: component === part.name ? outcome.states : 0,
        ...omitUndefined({ sameAs: component === part.name ? undefined : component }),
        ...(problem === undefined
          ? { verdict: 'proved' }
          : { verdict: 'unknown', reason: problem }),
      };
      results.push(result);
      yield result;
      if (problem !== undefined) return;
    }
  }

  /** Searches the view of a part: as it is, then with groups if it has many states, then with the tokens of budgets. */
  #searchContract(part: Part): Searched & { readonly view: View } {
    const attempt = (states = this.#limits.states): Searched & { readonly view: View } => {
      const view = this.#view(part);
      return { view, ...this.#search(part, view, 'contract', { asked: [] }, states) };
    };
    const isDone = ({ outcome }: Searched): boolean => outcome.problem === undefined;
    const states = Math.min(this.#limits.states, this.#mostWithoutGroups);
    if (Number.isFinite(this.#mostWithoutGroups) && this.#listGroups(part, []).length > 0) {
      const first = attempt(states);
      if (isDone(first)) return first;
      if (first.outcome.states > states) {
        this.#grouped.add(part);
        const grouped = attempt();
        if (isDone(grouped)) return grouped;
        this.#grouped.delete(part);
      }
    }
    const found = attempt();
    if (isDone(found) || !this.#hasBudgets) return found;
    this.#countsBudgets.add(part);
    return attempt();
  }

  /** True if some view counts the tokens of several places together. Then `unfired` may leave out transitions. */
  get hasGroups(): boolean {
    return this.#grouped.size > 0;
  }

  /**
   * The indexes of the transitions that some searched view has, but never fires. The net does not fire them either,
   * because a view fires whatever the net fires.
   */
  get unfired(): ReadonlySet<number> {
    return this.#unfired;
  }

  /**
   * Returns the states in which each part may have stopped, without those in which a child of it has not. Undefined if
   * there are too many.
   */
  #expandResting(
    resting: ReadonlyMap<Part, readonly ViewState[]>,
  ): ReadonlyMap<Part, readonly ViewState[]> | undefined {
    const toKey = (shared: string, own: string): string => JSON.stringify([shared, own]);
    const stops = new Map<Part, ReadonlySet<string>>();
    const expanded = new Map<Part, readonly ViewState[]>();
    // Children come before their parents.
    for (const part of this.#parts) {
      const offset = part.own === undefined ? 0 : 1;
      const below = part.children.map((child) => stops.get(child));
      const all: ViewState[] = [];
      for (const state of resting.get(part) ?? []) {
        const shared = this.#toShared(this.#layout(part), state);
        const allows = (contract: number, own: string): boolean =>
          contract < offset || below[contract - offset]?.has(toKey(shared, own)) === true;
        const most = MAX_COLLECTED - all.length;
        const states = this.#symmetries.get(part)?.expand(state, most, allows);
        if (states === undefined) return undefined;
        for (const one of states) all.push(one);
      }
      const keys = all.map((state) =>
        toKey(this.#toShared(this.#layout(part), state), state.contracts[0] ?? ''),
      );
      stops.set(part, new Set(keys));
      expanded.set(part, all);
    }
    return expanded;
  }

  /** What all views see of a state, as text. */
  #toShared({ positions }: Layout, { counts }: ViewState): string {
    return this.#shared
      .flatMap((place) => positions.get(place) ?? [])
      .map((position) => Math.min(MOST_COMPARED, counts[position] ?? 0))
      .join();
  }

  #addUnfired(part: Part, view: View, { moved }: ViewOutcome): void {
    const moves = listMoves(view);
    const fired = new Set(moves.flatMap(({ begins }, index) => (moved.has(index) ? begins : [])));
    for (const t of [
      ...moves.flatMap(({ begins }) => begins),
      ...[...part.transitions].filter((index) => hasNoMove(this.#net.transitions[index])),
    ])
      if (!fired.has(t)) this.#unfired.add(t);
  }

  /** Decides a property on the proved contracts. It may hold even if the decision is that it is unknown. */
  decide(property: Property): Decision {
    if (
      this.#results.length < this.#parts.length ||
      this.#results.some(({ verdict }) => verdict !== 'proved')
    )
      return unknown('a contract is not proved');
    const decision = this.#decideInViews(property);
    if (decision === undefined)
      return unknown(`contracts do not decide a property of kind ${property.kind}`);
    const inexact = this.#parts.filter((part) => !this.#countsBudgets.has(part));
    if (decision.holds) return decision;
    if (this.hasGroups) return this.#decideWithoutGroups(property);
    if (!this.#hasBudgets || inexact.length === 0) return decision;
    for (const part of inexact) this.#countsBudgets.add(part);
    const exact = this.#decideInViews(property);
    for (const part of inexact) this.#countsBudgets.delete(part);
    return exact ?? decision;
  }

  #decideWithoutGroups(property: Property): Decision {
    if (this.#withoutGroups === undefined) {
      const most = Number.POSITIVE_INFINITY;
      this.#withoutGroups = new ContractCheck(this.#net, this.#tree, this.#limits, most);
      for (const { verdict } of this.#withoutGroups.prove()) if (verdict !== 'proved') break;
    }
    return this.#withoutGroups.decide(property);
  }

  get #hasBudgets(): boolean {
    return this.#net.places.some(({ index }) => isBudget(this.#net, index));
  }

  /** Undefined for a property that views do not decide. */
  #decideInViews(property: Property): Decision | undefined {
    switch (property.kind) {
      case 'deadlockFree':
        return this.#decideResting(property.resting);
      case 'unreachable':
        return this.#decideUnreachable(property.marked, property.empty);
      case 'mutualExclusion':
        return this.#decideAll(
          property.places.flatMap((one, index) =>
            property.places
              .slice(index + 1)
              .map((other) => () => this.#decideUnreachable({ [one]: 1, [other]: 1 }, [])),
          ),
        );
      case 'placeBound':
        return property.each === true
          ? this.#decideAll(
              property.places.map((place) => () => this.#decideBound([place], property.max)),
            )
          : this.#decideBound(property.places, property.max);
      case 'atMost': {
        const { transitions, max, per, costs } = property;
        const decision =
          costs === undefined ? this.#decideAtMost(transitions, max, per) : undefined;
        return decision?.holds === true ? decision : this.#decideCosts(property);
      }
      case 'neverFiresAfter': {
        const { transitions, place, until } = property;
        return this.#decideAll(
          this.#parts.flatMap((part) => {
            const own = transitions.filter((name) => part.transitions.has(this.#transition(name)));
            return own.length === 0 ? [] : [() => this.#decideNeverAfter(own, place, until)];
          }),
        );
      }
      case 'precedes':
        return this.#decidePrecedes(property);
      case 'neverStale':
        return this.#decideNeverStale(property);
      case 'neverTakes': {
        const { by, places } = property;
        return this.#decideAll(
          this.#parts.flatMap((part) => {
            const own = by.filter((name) => part.transitions.has(this.#transition(name)));
            return own.length === 0 ? [] : [() => this.#decideNeverTakes(part, own, places)];
          }),
        );
      }
      default:
        return undefined;
    }
  }

  #createCore(tree: ComponentTree): Part {
    const children = tree.children.map((child) => this.#createPart(child, 1));
    const below = children.flatMap(listParts);
    const owned = new Set([...this.#shared, ...below.flatMap(({ places }) => places)]);
    const inside = new Set(below.flatMap((part) => [...part.transitions]));
    return {
      name: CORE,
      own: undefined,
      children,
      depth: 0,
      places: [
        ...tree.ports.map((name) => this.#place(name)),
        ...this.#net.places.map(({ index }) => index).filter((index) => !owned.has(index)),
      ],
      transitions: new Set(
        this.#net.transitions.map(({ index }) => index).filter((index) => !inside.has(index)),
      ),
      inside: new Set(this.#net.transitions.map(({ index }) => index)),
    };
  }

  #createPart(own: NetComponent, depth: number): Part {
    const children = own.children.map((child) => this.#createPart(child, depth + 1));
    const transitions = new Set(own.transitions.map((name) => this.#transition(name)));
    for (const { on } of own.contract.events)
      for (const name of [...(on.gives ?? []), ...(on.takes ?? []), ...(on.empties ?? [])])
        this.#place(name);
    return {
      name: own.name,
      own,
      children,
      depth,
      places: own.places.map((name) => this.#place(name)),
      transitions,
      inside: new Set([...transitions, ...children.flatMap(({ inside }) => [...inside])]),
    };
  }

  /** The net as a part sees it: its own places and the shared ones, its contract and those of its children. */
  #view(
    part: Part,
    {
      tracked = [],
      watch = () => [],
      counted = new Set(),
      apart = [],
      activities = new Map(),
    }: ViewRequest = {},
  ): View {
    const contracts = part.children.map((child): ObservedContract => ({
      ...observe(child, 'environment'),
      ...omitUndefined({ activity: activities.get(child) }),
    }));
    if (part.own !== undefined) contracts.unshift(observe(part, 'component'));
    // An event that takes tokens must see what the same firing gives back.
    const ports = contracts.flatMap(({ contract }) =>
      contract.events.flatMap(({ on: { gives = [], takes = [] } }) =>
        [...gives, ...takes].map((name) => this.#place(name)),
      ),
    );
    const { groups, sums } = this.#layout(part, apart);
    return createView(this.#net, this.#live, {
      kept: this.#kept(part),
      tracked: new Set([...ports, ...tracked]),
      contracts,
      watch,
      counted,
      countsBudgets: this.#countsBudgets.has(part),
      groups,
      sums,
    });
  }

  /** Where a view of a part counts which places. */
  #layout(part: Part, apart: readonly number[] = []): Layout {
    const isGrouped = this.#grouped.has(part);
    const key = JSON.stringify([this.#parts.indexOf(part), isGrouped, isGrouped ? apart : []]);
    const known = this.#layouts.get(key);
    if (known !== undefined) return known;
    const kept = this.#kept(part);
    const groups = isGrouped ? this.#listGroups(part, apart) : [];
    const grouped = new Set(groups.flat());
    const members = listMembers(kept, groups);
    const layout: Layout = {
      members,
      positions: new Map(
        members.flatMap((places, position) => places.map((place) => [place, position] as const)),
      ),
      groups,
      sums: isGrouped
        ? findTokenSums(this.#net, this.#live, {
            places: kept.filter((place) => !this.#shared.includes(place)),
            apart: new Set(kept.filter((place) => !grouped.has(place))),
            signals: new Set(this.#shared),
          })
        : [],
    };
    this.#layouts.set(key, layout);
    return layout;
  }

  /** The groups of a part's places that no other part, contract or question names. */
  #listGroups(part: Part, apart: readonly number[]): readonly (readonly number[])[] {
    const contracts = [part, ...part.children].flatMap(({ own }) => own?.contract ?? []);
    const named = contracts.flatMap(({ events }) =>
      events.flatMap(({ on: { gives = [], takes = [], empties = [] } }) =>
        [...gives, ...takes, ...empties].map((name) => this.#place(name)),
      ),
    );
    const exact = new Set([...this.#shared, ...named, ...apart]);
    return groupPlaces(
      this.#net,
      this.#live,
      this.#kept(part).filter((place) => !exact.has(place)),
    );
  }

  #kept(part: Part): readonly number[] {
    const places = new Set([...part.places, ...this.#shared]);
    return [...places].filter((place) => this.#live.places.has(place));
  }

  /** Searches a view, or returns the result of an equal search. */
  #search(
    part: Part,
    view: View,
    about: string,
    question: ViewQuestion,
    states: number = this.#limits.states,
  ): Searched {
    const { members: _members, outside, contracts, ...rest } = view;
    const key = JSON.stringify([
      about,
      states,
      outside.length,
      contracts.map(({ contract: { initial, events, steps }, checks, depth, activity }) => [
        initial,
        // `on` of an event names places, but what activates a component is part of the question.
        events.map(({ name, promisedBy, on }) => [name, promisedBy, on.by, on.gives?.length]),
        steps,
        checks,
        depth - part.depth,
        activity,
      ]),
      omitNames(rest),
    ]);
    const known = this.#searched.get(key);
    if (known !== undefined) return known;
    const searched = {
      outcome: searchView(view, question, { ...this.#limits, states }),
      component: part.name,
    };
    this.#searched.set(key, searched);
    return searched;
  }

  #decideAll(parts: readonly (() => Decision)[]): Decision {
    let states = 0;
    for (const decide of parts) {
      const decision = decide();
      if (!decision.holds) return decision;
      states += decision.states;
    }
    return { holds: true, states };
  }

  /** Decides whether the net stops only in one of these markings: by the states in which each part may have stopped. */
  #decideResting(markings: readonly QuiescentMarking[]): Decision {
    const resting = this.#expandResting(this.#dropStatesThatRun());
    if (resting === undefined)
      return unknown(`a component has more than ${MAX_COLLECTED} states in which it may stop`);
    const named = markings.map(({ marked, allowed = [] }) => ({
      marked: marked.map((name) => this.#place(name)),
      may: new Set([...marked, ...allowed].map((name) => this.#place(name))),
    }));
    const possible = named.map(({ marked }) =>
      marked.every((place) => this.#live.places.has(place)),
    );
    const combined = this.#combine((part) => {
      const layout = this.#layout(part);
      return (resting.get(part) ?? []).map((state) => ({
        state,
        layout,
        answers: toBits(
          named.map(
            ({ marked, may }, index) =>
              possible[index] === true &&
              layout.members.every((places, position) => {
                const isMarked = (state.counts[position] ?? 0) > 0;
                // Which places of a marked group are marked is not known.
                if (isMarked && places.length === 1) return places.every((place) => may.has(place));
                return places.every(
                  (place) => !marked.includes(place) && (!isMarked || may.has(place)),
                );
              }),
          ),
        ),
      }));
    });
    return combined.includes(0n)
      ? unknown('by their contracts, the components may stop together where the net may not rest')
      : { holds: true, states: 0 };
  }

  /**
   * Removes the states in which a part cannot have stopped, because places of other parts that inhibit it are empty
   * whenever the net has stopped. Each round uses only what earlier rounds have shown.
   */
  #dropStatesThatRun(): ReadonlyMap<Part, readonly ViewState[]> {
    const left = new Map(this.#resting);
    for (let removed = true; removed;) {
      removed = false;
      const empty = new Set(
        this.#parts.flatMap((part) =>
          this.#layout(part).members.flatMap((places, position) => {
            const images = this.#symmetries.get(part)?.images(position) ?? [position];
            const isEmpty = (left.get(part) ?? []).every(({ counts }) =>
              images.every((image) => counts[image] === 0),
            );
            return isEmpty ? places : [];
          }),
        ),
      );
      for (const part of this.#parts) {
        const { outside } = this.#view(part);
        const before = left.get(part) ?? [];
        const after = before.filter(
          ({ unlessMarked }) =>
            !unlessMarked.some((places) =>
              places.every((position) => empty.has(outside[position] ?? -1)),
            ),
        );
        if (after.length < before.length) removed = true;
        left.set(part, after);
      }
    }
    return left;
  }

  /** Decides whether no reachable marking has these counts: by the states of each part that agree with them. */
  #decideUnreachable(marked: Readonly<Record<string, number>>, empty: readonly string[]): Decision {
    const needed = new Map(
      Object.entries(marked).map(([name, count]) => [this.#place(name), count]),
    );
    const without = new Set(empty.map((name) => this.#place(name)));
    if ([...needed].some(([place, count]) => count > 0 && !this.#live.places.has(place)))
      return { holds: true, states: 0 };
    let states = 0;
    let problem: string | undefined;
    const combined = this.#combine((part) => {
      if (problem !== undefined) return [];
      const isAsked = (place: number): boolean =>
        (needed.get(place) ?? 0) > 0 || without.has(place);
      const apart = this.#kept(part).filter(isAsked);
      const layout = this.#layout(part, apart);
      const view = this.#view(part, { apart });
      const fits = (count: (position: number) => number): boolean =>
        layout.members.every(([place = -1], position) => {
          const tokens = count(position);
          return (
            tokens >= Math.min(needed.get(place) ?? 0, view.caps[position] ?? 1) &&
            !(without.has(place) && tokens > 0)
          );
        });
      const about = JSON.stringify([
        'marking',
        layout.members.map(([place = -1]) => [needed.get(place) ?? 0, without.has(place)]),
      ]);
      const { outcome, component } = this.#search(part, view, about, {
        collects: fits,
        asked: layout.members.flatMap(([place = -1], position) =>
          isAsked(place) ? [position] : [],
        ),
      });
      problem ??= outcome.problem;
      if (component === part.name) states += outcome.states;
      return outcome.collected.flatMap((one) => {
        const states_ = outcome.symmetry.expand(one, MAX_COLLECTED);
        if (states_ === undefined) problem ??= `more than ${MAX_COLLECTED} states to combine`;
        return (states_ ?? []).map((state) => ({ state, layout, answers: 0n }));
      });
    });
    if (problem !== undefined) return unknown(problem);
    return combined.length === 0
      ? { holds: true, states }
      : unknown('by their contracts, the components may reach such a marking together');
  }

  #decideBound(places: readonly string[], max: number): Decision {
    const indexes = places
      .map((name) => this.#place(name))
      .filter((place) => this.#live.places.has(place));
    const part = this.#parts.find((one) => {
      const kept = this.#kept(one);
      return indexes.every((place) => kept.includes(place));
    });
    if (part === undefined)
      return unknown(
        'its places belong to several components; only a search of the whole net adds them',
      );
    const view = this.#view(part, { counted: new Set(indexes), apart: indexes });
    const layout = this.#layout(part, indexes);
    const positions = indexes.map((place) => layout.positions.get(place) ?? -1);
    const { outcome, component } = this.#search(
      part,
      view,
      JSON.stringify(['bound', positions, max]),
      {
        asked: positions,
        isViolated: (count) => {
          const counts = positions.map(count);
          return (
            counts.some((one, index) => one >= (view.caps[positions[index] ?? 0] ?? 1)) ||
            counts.reduce((all, one) => all + one, 0) > max
          );
        },
      },
    );
    return toDecision(outcome, component === part.name);
  }

  #decideAtMost(transitions: readonly string[], max: number, per: string | undefined): Decision {
    const counted = new Set(transitions.map((name) => this.#transition(name)));
    const renewal = per === undefined ? undefined : this.#place(per);
    const renews = (step: ViewStep): boolean => this.#takesFrom(step, renewal);
    const candidates = this.#parts.filter(
      (part) => part.own === undefined || [...counted].some((t) => part.transitions.has(t)),
    );
    const watch = (step: ViewStep): readonly string[] => [
      ...(step.begins && counted.has(step.t) ? ['counted'] : []),
      ...(renews(step) ? ['renews'] : []),
    ];
    const budgets = this.#findBudgets(counted);
    let reason = '';
    for (const part of budgets.length > 0 ? [this.#core, ...candidates] : candidates) {
      // First a view of the budget alone.
      const isFirst = reason === '' && budgets.length > 0;
      const kept = isFirst ? [...budgets, ...list(renewal)] : this.#kept(part);
      const view = isFirst
        ? this.#viewPlaces(kept, budgets, watch)
        : this.#view(part, { watch, apart: list(renewal) });
      const restarts = isFirst
        ? kept.indexOf(renewal ?? -1)
        : (this.#layout(part, list(renewal)).positions.get(renewal ?? -1) ?? -1);
      const { outcome, component } = this.#search(
        part,
        view,
        JSON.stringify(['atMost', restarts, max]),
        {
          asked: restarts >= 0 ? [restarts] : [],
          monitor: {
            initial: 0,
            next: (memory, { watched }, removed) => {
              // Tokens that leave a place outside the view by a reset are not seen: the count then goes on.
              const isNew = watched.includes('renews') || (restarts >= 0 && removed(restarts));
              const before = isNew ? 0 : memory;
              if (!watched.includes('counted')) return before;
              return before >= max ? -1 : before + 1;
            },
          },
        },
      );
      if (outcome.problem === undefined) return toDecision(outcome, component === part.name);
      reason = outcome.problem;
    }
    return unknown(reason);
  }

  /** The budgets of which every firing of these transitions takes a token. */
  #findBudgets(transitions: ReadonlySet<number>): readonly number[] {
    const all = [...transitions].map((t) => this.#net.transitions[t]?.takes ?? []);
    return this.#net.places.flatMap(({ index }) => {
      const isTaken = all.every((takes) =>
        takes.some(({ place, mode, count }) => place === index && mode !== 'all' && count > 0),
      );
      return isTaken && isBudget(this.#net, index) && this.#live.places.has(index) ? [index] : [];
    });
  }

  /** The net as these places alone see it. */
  #viewPlaces(
    kept: readonly number[],
    counted: readonly number[],
    watch: (step: ViewStep) => readonly string[],
  ): View {
    const places = kept.filter((place) => this.#live.places.has(place));
    return createView(this.#net, this.#live, {
      kept: places,
      tracked: new Set(),
      contracts: [],
      watch,
      counted: new Set(counted),
      countsOnlyThose: true,
    });
  }

  #decideNeverAfter(
    transitions: readonly string[],
    place: string,
    until: string | undefined,
  ): Decision {
    const counted = new Set(transitions.map((name) => this.#transition(name)));
    if ([place, until].some((name) => this.#isUncounted(name)))
      return unknown('contracts do not see outlets, lists and maps');
    const begin = this.#event(place);
    // A retry puts the token of a running place there again, and views do not count attempts.
    if (this.#isRunning(begin.place)) return unknown(NO_ATTEMPTS);
    const end = until === undefined ? undefined : this.#event(until);
    const isInitial = this.#net.net.initial.some((one) => one.place.name === place);
    const initially = begin.place !== undefined && isInitial ? 1 : 0;
    return this.#decideSteps({
      about: ['neverAfter', initially],
      counted,
      watch: (_part, step) => [
        ...(step.begins && counted.has(step.t) ? ['forbidden'] : []),
        ...(countEvents(begin, step) > 0 ? ['begins'] : []),
        ...(end !== undefined && countEvents(end, step) > 0 ? ['ends'] : []),
      ],
      tracked: [begin, end].flatMap((event) => event?.place ?? []),
      apart: [],
      answers: () => createIntervalMonitor(initially),
      below: () => noMonitor,
    });
  }

  #decidePrecedes({ first, transitions, each, per }: Precedes): Decision {
    if (this.#isUncounted(first) || this.#isUncounted(per))
      return unknown('contracts do not see outlets, lists and maps');
    const then = new Set(transitions.map((name) => this.#transition(name)));
    const event = this.#event(first);
    if (this.#isRunning(event.place)) return unknown(NO_ATTEMPTS);
    const renewal = per === undefined ? undefined : this.#place(per);
    return this.#decideSteps({
      about: ['precedes', each],
      counted: then,
      first: event.transition,
      watch: (part, step) => {
        const count = countEvents(event, step);
        // A renewal that does not happen only makes the property harder to prove.
        const mayRenew = renewal !== undefined && !this.#kept(part).includes(renewal);
        return [
          ...(step.begins && then.has(step.t) ? ['then'] : []),
          ...(count > 0 ? [nameEvents(count)] : []),
          ...(mayRenew && this.#mayRemove(step.t, renewal) ? [RENEWS] : []),
        ];
      },
      tracked: list(event.place),
      apart: list(renewal),
      answers: (part) => createOrderMonitor(each, this.#position(part, list(renewal), renewal)),
      below: () => noMonitor,
    });
  }

  #decideNeverStale({ commits, renewals, work }: NeverStale): Decision {
    const committing = new Set(commits.map((name) => this.#transition(name)));
    const renewing = new Set(renewals.map((name) => this.#transition(name)));
    const places = work
      .map((name) => this.#place(name))
      .filter((place) => this.#live.places.has(place));
    const completes = ({ t, begins, ends }: ViewStep): boolean =>
      ends || (begins && this.#net.transitions[t]?.kind === 'pure');
    const part = this.#parts.find((one) => {
      const kept = this.#kept(one);
      return places.every((place) => kept.includes(place));
    });
    if (part === undefined) return unknown('its work belongs to several components');
    return this.#answer(part, {
      about: ['neverStale'],
      counted: new Set(),
      watch: (_part, step) => [
        ...(completes(step) && committing.has(step.t) ? ['commits'] : []),
        ...(completes(step) && renewing.has(step.t) ? [RENEWS] : []),
      ],
      apart: places,
      answers: () => createStaleMonitor(places.map((place) => this.#position(part, places, place))),
      below: () => noMonitor,
    });
  }

  /**
   * Adds the costs of transitions of several components: the steps inside a child cost, each time that it is set to work,
   * at most what its own view shows.
   */
  #decideCosts({ transitions, max, per, costs }: AtMost): Decision {
    const counted = new Set(transitions.map((name) => this.#transition(name)));
    const byTransition = new Map(
      transitions.map((name) => [this.#transition(name), costs?.[name] ?? 1]),
    );
    if (this.#isUncounted(per)) return unknown('contracts do not see lists and maps');
    const renewal = per === undefined ? undefined : this.#place(per);
    const question = (restarts: 'renewal' | 'activation') => (part: Part, view: View) =>
      createCostMonitor(view, {
        max,
        restarts,
        renewal: this.#position(part, list(renewal), renewal),
      });
    return this.#decideSteps({
      about: ['costs', max],
      counted,
      watch: (part, step) => [
        ...(step.begins && part.transitions.has(step.t) && counted.has(step.t)
          ? [nameCost(byTransition.get(step.t) ?? 1)]
          : []),
        ...(this.#takesFrom(step, renewal) ? [RENEWS] : []),
      ],
      apart: list(renewal),
      answers: question('renewal'),
      below: question('activation'),
    });
  }

  /** Decides a question in the first view that answers it: of the least part with all counted steps, or of one above. */
  #decideSteps(question: StepQuestion): Decision {
    const parts = this.#parts.filter((part) =>
      [...question.counted, ...list(question.first)].every((t) => part.inside.has(t)),
    );
    let states = 0;
    let reason = '';
    for (const part of parts) {
      const decision = this.#answer(part, question);
      if (decision.holds) return { holds: true, states: states + decision.states };
      reason = decision.reason;
    }
    return unknown(reason);
  }

  /** Answers a question in the view of one part. */
  #answer(part: Part, question: StepQuestion): Decision {
    const { counted, first } = question;
    let states = 0;
    const search = (one: Part, isAnswer: boolean): Searched | undefined => {
      const activities = new Map<Part, ChildActivity>();
      for (const child of one.children) {
        if (![...counted, ...list(first)].some((t) => child.inside.has(t))) continue;
        const below = search(child, false);
        if (below === undefined || below.outcome.problem !== undefined) return below;
        const { firesIn, mostMemory: cost } = below.outcome;
        activities.set(child, { firesIn, cost });
      }
      const view = this.#view(one, {
        watch: (step) => [
          ...(step.begins && counted.has(step.t) ? ['counted'] : []),
          ...(step.begins && first === step.t ? ['counted first'] : []),
          ...question.watch(one, step),
        ],
        apart: question.apart,
        activities,
        ...omitUndefined({ tracked: question.tracked }),
      });
      const { positions } = this.#layout(one, question.apart);
      const asked = question.apart.flatMap((place) => positions.get(place) ?? []);
      const about = JSON.stringify([...question.about, isAnswer, asked]);
      const monitor = (isAnswer ? question.answers : question.below)(one, view);
      const searched = this.#search(one, view, about, { asked, monitor });
      if (searched.component === one.name) states += searched.outcome.states;
      return searched;
    };
    const searched = search(part, true);
    if (searched === undefined) return unknown('a view of a component was not searched');
    const { problem } = searched.outcome;
    return problem === undefined ? { holds: true, states } : unknown(problem);
  }

  /** The position of a place in the view of a part; -1 if the view leaves it out. */
  #position(part: Part, apart: readonly number[], place: number | undefined): number {
    return this.#layout(part, apart).positions.get(place ?? -1) ?? -1;
  }

  #isRunning(place: number | undefined): boolean {
    return (this.#net.places[place ?? -1]?.effect ?? -1) >= 0;
  }

  /** True if a step surely takes a token of the place. */
  #takesFrom({ t, takes }: ViewStep, place: number | undefined): boolean {
    return (
      takes &&
      (this.#net.transitions[t]?.takes ?? []).some(
        (input) => input.place === place && input.mode !== 'all' && input.count > 0,
      )
    );
  }

  /** True if some step of the transition removes a token of the place. */
  #mayRemove(t: number, place: number): boolean {
    const { takes = [], resets = [], running } = this.#net.transitions[t] ?? {};
    return running === place || resets.includes(place) || takes.some((one) => one.place === place);
  }

  #decideNeverTakes(
    part: Part,
    transitions: readonly string[],
    places: readonly string[],
  ): Decision {
    const watched = new Set(transitions.map((name) => this.#transition(name)));
    const kept = this.#kept(part);
    const indexes = places
      .map((name) => this.#place(name))
      .filter((place) => this.#live.places.has(place));
    if (!indexes.every((place) => kept.includes(place)))
      return unknown('its transitions and places belong to several components');
    return this.#decideAll(
      this.#splitAsked(part, indexes).map((apart) => () => {
        const view = this.#view(part, {
          watch: ({ t, begins }) => (begins && watched.has(t) ? ['forbidden'] : []),
          apart,
        });
        const layout = this.#layout(part, apart);
        const positions = indexes
          .filter((place) => apart.includes(place))
          .map((place) => layout.positions.get(place) ?? -1);
        const { outcome, component } = this.#search(
          part,
          view,
          JSON.stringify(['neverTakes', positions]),
          {
            asked: positions,
            monitor: {
              initial: 0,
              next: (memory, { watched: seen }, removed) =>
                seen.includes('forbidden') && positions.some(removed) ? -1 : memory,
            },
          },
        );
        return toDecision(outcome, component === part.name);
      }),
    );
  }

  /** The places that one search counts place by place. With groups: only those that are taken together, such as a join's. */
  #splitAsked(part: Part, places: readonly number[]): readonly (readonly number[])[] {
    if (!this.#grouped.has(part)) return [places];
    const sets = places.map((place) => this.#addTakenTogether(part, [place]));
    return [...new Map(sets.map((set) => [set.join(), set])).values()];
  }

  /** Adds the places of a part of which a firing takes tokens together with those of these places. */
  #addTakenTogether(part: Part, places: readonly number[]): readonly number[] {
    const kept = this.#kept(part);
    const together = this.#net.transitions.flatMap(({ takes }) => {
      const single = takes.flatMap(({ mode, place }) => (mode === 'all' ? [] : [place]));
      return places.some((place) => single.includes(place)) ? single : [];
    });
    return kept.filter((place) => together.includes(place) || places.includes(place));
  }

  /** True for an outlet, a list or a map: a place of the net whose tokens are not counted. */
  #isUncounted(name: string | undefined): boolean {
    const { net, placeIndex } = this.#net;
    return (
      name !== undefined && net.places.has(name) && !placeIndex.has(name) && !net.byName.has(name)
    );
  }

  #event(name: string): NetEvent {
    const { net, placeIndex } = this.#net;
    const t = net.byName.get(name);
    if (t !== undefined) return { transition: t.index };
    const place = placeIndex.get(name);
    if (place !== undefined) return { place };
    throw new UnknownNameError(net.name, `transition or place "${name}"`, [
      ...net.byName.keys(),
      ...placeIndex.keys(),
    ]);
  }

  #combine(
    list: (part: Part) => readonly {
      readonly state: ViewState;
      readonly layout: Layout;
      readonly answers: bigint;
    }[],
  ): readonly bigint[] {
    const toTree = (part: Part): StateTree => {
      const offset = part.own === undefined ? 0 : 1;
      return {
        states: list(part).map(({ state, layout, answers }) => ({
          shared: this.#toShared(layout, state),
          own: offset === 0 ? '' : (state.contracts[0] ?? ''),
          children: state.contracts.slice(offset),
          answers,
        })),
        children: part.children.map(toTree),
      };
    };
    return combineStates(toTree(this.#core));
  }

  #place(name: string): number {
    const index = this.#net.placeIndex.get(name);
    if (index !== undefined) return index;
    throw unknownName(this.#net.net, `place "${name}"`, this.#net.placeIndex.keys());
  }

  #transition(name: string): number {
    const t = this.#net.net.byName.get(name);
    if (t !== undefined) return t.index;
    throw unknownName(this.#net.net, `transition "${name}"`, this.#net.net.byName.keys());
  }
}

/** An event of a property: a transition begins, or a place gets a token. */
interface NetEvent {
  readonly transition?: number;
  readonly place?: number;
}

/** How often an event happens in a step. */
function countEvents({ transition, place }: NetEvent, { t, begins, added }: ViewStep): number {
  if (transition !== undefined) return begins && t === transition ? 1 : 0;
  return place === undefined ? 0 : (added.get(place) ?? 0);
}

function observe(
  { name, own, inside, depth }: Part,
  checks: ObservedContract['checks'],
): ObservedContract {
  if (own === undefined) throw new RangeError('the core has no contract');
  return { name, contract: own.contract, inside, checks, depth };
}

function listParts(part: Part): readonly Part[] {
  return [...part.children.flatMap(listParts), part];
}

function list(place: number | undefined): readonly number[] {
  return place === undefined ? [] : [place];
}

function toDecision({ problem, states }: ViewOutcome, isNew: boolean): Decision {
  return problem === undefined ? { holds: true, states: isNew ? states : 0 } : unknown(problem);
}

function unknown(reason: string): Decision {
  return { holds: false, reason };
}

function toBits(answers: readonly boolean[]): bigint {
  return answers.reduce((bits, one, index) => (one ? bits | (1n << BigInt(index)) : bits), 0n);
}

/** The moves of a view without their names, which do not change what a search finds. */
function omitNames(view: Omit<View, 'members' | 'outside' | 'contracts'>): unknown {
  const strip = (moves: View['arrivals']): unknown =>
    moves.map(({ name: _name, begins: _begins, ...move }) => move);
  return {
    ...view,
    now: view.now.map(strip),
    arrivals: strip(view.arrivals),
    timers: strip(view.timers),
  };
}

function unknownName(net: CompiledNet, what: string, known: Iterable<string>): UnknownNameError {
  return new UnknownNameError(net.name, what, [...known]);
}

/** True for a transition that waits without end, or that has no outcome within the bounds. */
function hasNoMove(t: ExpandedTransition | undefined): boolean {
  return t?.timed === 'never' || (t?.kind === 'pure' && t.alternatives.length === 0);
}
