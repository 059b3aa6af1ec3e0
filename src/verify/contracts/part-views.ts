import { omitUndefined } from '../../core/internal.ts';
import type { ExpandedNet } from '../system/expand.ts';
import { findPlace } from '../system/find-by-name.ts';
import type { ChildActivity } from './child-activity.ts';
import { findConsumedInputs } from './consumed-inputs.ts';
import type { ComponentTree } from './contract.ts';
import { findLiveParts } from './live-parts.ts';
import type { LiveParts } from './live-parts.ts';
import { createCore, listParts, listPortNames } from './net-parts.ts';
import type { NetPart } from './net-parts.ts';
import { groupPlaces } from './place-groups.ts';
import { findTokenSums } from './token-sums.ts';
import type { TokenSum } from './token-sums.ts';
import { createView, isBudget, listMembers } from './view.ts';
import type { ObservedContract, View, ViewStep } from './view.ts';
import { searchView } from './view-search.ts';
import type { ViewLimits, ViewOutcome, ViewQuestion } from './view-search.ts';

/** How a view of a part counts places. */
export interface Layout {
  /** By position in the view: the places whose tokens are counted there. */
  readonly members: readonly (readonly number[])[];
  readonly positions: ReadonlyMap<number, number>;
  readonly groups: readonly (readonly number[])[];
  readonly sums: readonly TokenSum[];
}

/** What a view is asked. */
export interface ViewRequest {
  /** Places that the view sees tokens arrive at, although it does not count them. */
  readonly tracked?: readonly number[];
  readonly watch?: (step: ViewStep) => readonly string[];
  /** Places whose tokens must be counted even if no transition does. */
  readonly counted?: ReadonlySet<number>;
  /** Places that are in no group. */
  readonly apart?: readonly number[];
  /** What is known of the children with counted steps inside. */
  readonly activities?: ReadonlyMap<NetPart, ChildActivity>;
}

/** The result of a search, and the name of the component in whose view it was made. */
export interface Searched {
  readonly outcome: ViewOutcome;
  readonly component: string;
}

/** The views of the parts of a net. Views that are equal up to names are searched once. */
export class PartViews {
  readonly net: ExpandedNet;
  readonly limits: ViewLimits;
  readonly core: NetPart;
  /** Children come before their parents. */
  readonly parts: readonly NetPart[];
  /** The places that all views have. */
  readonly shared: readonly number[];
  /** The parts whose views count the tokens of every budget. */
  readonly countsBudgets: Set<NetPart> = new Set();
  /** The parts whose views count the tokens of several places together. */
  readonly grouped: Set<NetPart> = new Set();
  readonly #live: LiveParts;
  #leftOut: ReadonlySet<number> = new Set();
  readonly #layouts = new Map<string, Layout>();
  readonly #searched = new Map<string, Searched>();

  /**
   * @param keepsInputs true for views with all inputs from outside
   * @throws UnknownNameError if the tree names a place or transition that the net does not have.
   * @throws InvalidContractError if a contract contradicts itself.
   */
  constructor(net: ExpandedNet, tree: ComponentTree, limits: ViewLimits, keepsInputs = false) {
    this.net = net;
    this.limits = limits;
    this.#live = findLiveParts(net);
    this.shared = tree.shared.map((name) => findPlace(net, name));
    this.core = createCore(net, tree);
    this.parts = listParts(this.core);
    const named = new Set([
      ...this.shared,
      ...this.parts.flatMap((part) => this.#listPorts([part])),
    ]);
    this.#leftOut = new Set(
      keepsInputs ? [] : [...findConsumedInputs(net)].filter((place) => !named.has(place)),
    );
  }

  /** The places that no view has: inputs from outside that are empty whenever the net has stopped. */
  get leftOut(): ReadonlySet<number> {
    return this.#leftOut;
  }

  /** Lets the views have all inputs from outside from now on. */
  keepInputs(): void {
    this.#leftOut = new Set();
    this.#layouts.clear();
  }

  get hasBudgets(): boolean {
    return this.net.places.some(({ index }) => isBudget(this.net, index));
  }

  /** False for a place that never holds a token, by the arcs alone. */
  isLive(place: number): boolean {
    return this.#live.places.has(place);
  }

  /** The places of a view of a part: its own ones and the shared ones. */
  kept(part: NetPart): readonly number[] {
    const places = new Set([...part.places, ...this.shared]);
    return [...places].filter((place) => this.isLive(place) && !this.#leftOut.has(place));
  }

  /** The innermost part whose view has all these places. */
  findPartWith(places: readonly number[]): NetPart | undefined {
    return this.parts.find((part) => {
      const kept = this.kept(part);
      return places.every((place) => kept.includes(place));
    });
  }

  /** The net as a part sees it: its own places and the shared ones, its contract and those of its children. */
  view(
    part: NetPart,
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
        [...gives, ...takes].map((name) => findPlace(this.net, name)),
      ),
    );
    const { groups, sums } = this.layout(part, apart);
    return createView(this.net, this.#live, {
      kept: this.kept(part),
      tracked: new Set([...ports, ...tracked]),
      contracts,
      watch,
      counted,
      countsBudgets: this.countsBudgets.has(part),
      groups,
      sums,
    });
  }

  /** The net as these places alone see it, with exact counts only of some. */
  viewPlaces(
    kept: readonly number[],
    counted: readonly number[],
    watch: (step: ViewStep) => readonly string[],
  ): View {
    return createView(this.net, this.#live, {
      kept: kept.filter((place) => this.isLive(place)),
      tracked: new Set(),
      contracts: [],
      watch,
      counted: new Set(counted),
      countsOnlyThose: true,
    });
  }

  /** Where a view of a part counts which places. */
  layout(part: NetPart, apart: readonly number[] = []): Layout {
    const isGrouped = this.grouped.has(part);
    const key = JSON.stringify([this.parts.indexOf(part), isGrouped, isGrouped ? apart : []]);
    const known = this.#layouts.get(key);
    if (known !== undefined) return known;
    const kept = this.kept(part);
    const groups = isGrouped ? this.listGroups(part, apart) : [];
    const grouped = new Set(groups.flat());
    const members = listMembers(kept, groups);
    const layout: Layout = {
      members,
      positions: new Map(
        members.flatMap((places, position) => places.map((place) => [place, position] as const)),
      ),
      groups,
      sums: isGrouped
        ? findTokenSums(this.net, this.#live, {
            places: kept.filter((place) => !this.shared.includes(place)),
            apart: new Set(kept.filter((place) => !grouped.has(place))),
            signals: new Set(this.shared),
          })
        : [],
    };
    this.#layouts.set(key, layout);
    return layout;
  }

  /** The position of a place in the view of a part; -1 if the view leaves it out. */
  position(part: NetPart, apart: readonly number[], place: number | undefined): number {
    return this.layout(part, apart).positions.get(place ?? -1) ?? -1;
  }

  /** The groups of a part's places that no other part, contract or question names. */
  listGroups(part: NetPart, apart: readonly number[] = []): readonly (readonly number[])[] {
    const exact = new Set([...this.shared, ...this.#listPorts([part, ...part.children]), ...apart]);
    return groupPlaces(
      this.net,
      this.#live,
      this.kept(part).filter((place) => !exact.has(place)),
    );
  }

  /** The places that the contracts of these parts name. */
  #listPorts(parts: readonly NetPart[]): readonly number[] {
    const contracts = parts.flatMap(({ own }) => own?.contract ?? []);
    return contracts.flatMap(({ events }) =>
      events.flatMap(({ on }) => listPortNames(on).map((name) => findPlace(this.net, name))),
    );
  }

  /** Searches a view, or returns the result of an equal search. */
  search(
    part: NetPart,
    view: View,
    about: string,
    question: ViewQuestion,
    states: number = this.limits.states,
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
      outcome: searchView(view, question, { ...this.limits, states }),
      component: part.name,
    };
    this.#searched.set(key, searched);
    return searched;
  }
}

function observe(
  { name, own, inside, depth }: NetPart,
  checks: ObservedContract['checks'],
): ObservedContract {
  if (own === undefined) throw new RangeError('the core has no contract');
  return { name, contract: own.contract, inside, checks, depth };
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
