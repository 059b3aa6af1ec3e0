import type {
  ExpandedAlternative,
  ExpandedNet,
  ExpandedOutput,
  ExpandedTransition,
} from '../system/expand.ts';
import { isCountedKind } from './child-activity.ts';
import type { ChildActivity } from './child-activity.ts';
import type { Contract, StepPattern } from './contract.ts';
import type { LiveParts } from './live-parts.ts';
import type { TokenSum } from './token-sums.ts';

/** A contract that a view observes. */
export interface ObservedContract {
  readonly name: string;
  readonly contract: Contract;
  /** The indexes of the transitions of the component and its children. */
  readonly inside: ReadonlySet<number>;
  /** The side whose promises this view checks. The promises of the other side are assumed. */
  readonly checks: 'component' | 'environment';
  /** The distance from the core. */
  readonly depth: number;
  /** What is known of a child with counted steps inside it. */
  readonly activity?: ChildActivity;
}

/** The part of a net that a view looks at. */
export interface ViewOptions {
  /** Indexes of the places whose tokens are counted. */
  readonly kept: readonly number[];
  /** Indexes of more places: the view sees when a step adds tokens there. */
  readonly tracked: ReadonlySet<number>;
  readonly contracts: readonly ObservedContract[];
  /** Names for a step that a property watches; the step stays apart from equal ones. */
  readonly watch: (step: ViewStep) => readonly string[];
  /** Places whose tokens must be counted even if no transition does. */
  readonly counted?: ReadonlySet<number>;
  /** True to count few tokens of all places but those of `counted`. */
  readonly countsOnlyThose?: boolean;
  /** True to count the tokens of every budget. Otherwise some tokens of a budget mean that many or more. */
  readonly countsBudgets?: boolean;
  /** Groups of kept places whose tokens are counted together, as `groupPlaces` returns them. */
  readonly groups?: readonly (readonly number[])[];
  /** Sums of kept places that the view follows beside the counts. */
  readonly sums?: readonly TokenSum[];
}

/** A step of the net as `watch` sees it. */
export interface ViewStep {
  readonly t: number;
  /** True if a pure transition fires or an effect starts. */
  readonly begins: boolean;
  /** True if an effect ends with one of its outcomes. */
  readonly ends: boolean;
  /** True if the transition takes its tokens: it fires, starts, or fails to. */
  readonly takes: boolean;
  /** Tokens added, by index of the place. Only kept and tracked places; 2 or more may be shown as 2 for a tracked place. */
  readonly added: ReadonlyMap<number, number>;
}

/** An input of a move. Places are positions in `View.places`. */
export interface MoveInput {
  readonly place: number;
  readonly mode: 'count' | 'all' | 'some';
  /** The exact number for `count`, otherwise the minimum. */
  readonly count: number;
  /** The most tokens that the place may have; no limit if undefined. */
  readonly most: number | undefined;
}

/** The tokens that a move adds: a number, or as many as an input takes. */
export interface MoveOutput {
  readonly place: number;
  readonly count: number;
  readonly each: number;
}

/** A move of a view: a step of the net without the places that the view leaves out. */
export interface ViewMove {
  readonly name: string;
  readonly takes: readonly MoveInput[];
  readonly reads: readonly { readonly place: number; readonly count: number }[];
  readonly unless: readonly number[];
  /** The place of firings in flight and their limit; undefined without one. */
  readonly limit: readonly [place: number, max: number] | undefined;
  readonly resets: readonly number[];
  readonly gives: readonly MoveOutput[];
  readonly faults: number;
  readonly environment: number;
  /** `now`: it fires before anything else. `arrival`: it comes from outside or from an effect. `timer`: it expires. */
  readonly when: 'now' | 'arrival' | 'timer';
  readonly priority: number;
  /** True if the net can do it whenever the view can, so it comes before all moves of lower priority. */
  readonly isCertain: boolean;
  /** True if the net cannot stop where the view can do it. */
  readonly prevents: boolean;
  /** Positions in `View.outside` of inhibitors that the view leaves out, if it leaves out nothing else of the move. */
  readonly ifEmpty: readonly number[] | undefined;
  /** By observed contract: the events of the step, as positions in `Contract.events`. */
  readonly events: readonly (readonly number[])[];
  /** By sum of the view: what the move adds and takes, without what it empties. */
  readonly changes: readonly { readonly gained: number; readonly lost: number }[];
  readonly watched: readonly string[];
  /** Of a counted move: the positions of the observed contracts whose component contains its transition. */
  readonly within: readonly number[];
  /** The indexes of the transitions that fire or start in this move. Moves that are equal otherwise are one. */
  readonly begins: readonly number[];
}

/** What of a view belongs to one child: its contract, by position, and the places that only this contract names. */
export interface ViewBlock {
  readonly contract: number;
  readonly places: readonly number[];
}

/** What a move needs beside a token of a group. */
export type MoveNeeds = Pick<ViewMove, 'takes' | 'reads' | 'unless' | 'limit'>;

/** Places whose tokens are counted together. */
export interface ViewGroup {
  readonly place: number;
  /**
   * By place of the group, but for firings in flight: what each transition that takes one token of it needs beside this
   * token. If one of these needs is met for each place, the net cannot stop while the group has tokens.
   */
  readonly takers: readonly (readonly MoveNeeds[])[];
}

/** A weighted sum of tokens. */
export interface ViewSum {
  readonly initial: number;
  /** By place of the view that it counts: the least and the greatest weight of a token there. */
  readonly weights: readonly {
    readonly place: number;
    readonly least: number;
    readonly most: number;
  }[];
}

/** A net reduced to some of its places: it has every behavior of the net on these places, and possibly more. */
export interface View {
  /** By place of the view: the places of the expanded net whose tokens it counts, as indexes. */
  readonly members: readonly (readonly number[])[];
  readonly groups: readonly ViewGroup[];
  readonly sums: readonly ViewSum[];
  /** Indexes of places that the view leaves out and that inhibit a move of which it leaves out nothing else. */
  readonly outside: readonly number[];
  /** Positions of running places. */
  readonly running: readonly number[];
  readonly initial: readonly number[];
  /** By environment place that is kept: the number of tokens. */
  readonly environment: readonly number[];
  readonly faults: number;
  /** By place: a count of this many tokens means this many or more. */
  readonly caps: readonly number[];
  readonly contracts: readonly ObservedContract[];
  /** The children of the component, each with its own places in the order in which its contract names them. */
  readonly blocks: readonly ViewBlock[];
  /** Moves that fire at once, by priority, highest first. */
  readonly now: readonly (readonly ViewMove[])[];
  readonly arrivals: readonly ViewMove[];
  readonly timers: readonly ViewMove[];
}

/** Returns all moves of a view. Views that are equal up to names have equal moves at equal positions. */
export function listMoves({ now, arrivals, timers }: View): readonly ViewMove[] {
  return [...now.flat(), ...arrivals, ...timers];
}

/** Returns the places of each position of a view: the kept places in their order, then the groups. */
export function listMembers(
  kept: readonly number[],
  groups: readonly (readonly number[])[] = [],
): readonly (readonly number[])[] {
  const grouped = new Set(groups.flat());
  return [...kept.filter((place) => !grouped.has(place)).map((place) => [place]), ...groups];
}

/** Of a group, a view knows only whether it has tokens. */
const GROUP_CAP = 1;
const LEAST_CAP = 3;
const MOST_CAP = 64;
/** A step that adds more tokens than this to the ports of a contract is as many of its events. */
const MOST_GAINED = 2;
/** The priority of the faults of timed transitions, which are due when no other transition can fire. */
const AFTER_ALL: number = Number.MIN_SAFE_INTEGER;

/**
 * Reduces a net to some of its places. A transition loses its arcs to the other places, so it may fire in more states
 * than in the net. It is then not certain: it does not come before transitions of lower priority, and does not prevent
 * that the net stops. Keys, ages, attempts and the phases of an owner are left out in the same way.
 */
export function createView(net: ExpandedNet, live: LiveParts, options: ViewOptions): View {
  return new ViewBuilder(net, live, options).build();
}

interface Variant {
  readonly gives: readonly MoveOutput[];
  /** By input: the number of tokens that the firing must find there. */
  readonly finds?: ReadonlyMap<number, Pick<MoveInput, 'count' | 'most'>>;
  readonly added: ReadonlyMap<number, number>;
  /** By place: the tokens that an input takes all at once, and that the firing gives back one by one. */
  readonly returned?: ReadonlyMap<number, number>;
  /** The places whose tokens the firing takes all at once and gives back, whether the view sees it or not. */
  readonly refilled?: ReadonlySet<number>;
}

class ViewBuilder {
  readonly #net: ExpandedNet;
  readonly #live: LiveParts;
  readonly #options: ViewOptions;
  /** By position: the places that are counted there. Groups are last. */
  readonly #members: readonly (readonly number[])[];
  readonly #at: ReadonlyMap<number, number>;
  readonly #grouped: ReadonlySet<number>;
  readonly #environment: readonly { readonly place: number; readonly tokens: number }[];
  readonly #cap: number;
  readonly #moves = new Map<string, ViewMove>();
  readonly #outside: readonly number[];

  constructor(net: ExpandedNet, live: LiveParts, options: ViewOptions) {
    this.#net = net;
    this.#live = live;
    this.#options = options;
    this.#grouped = new Set(options.groups?.flat());
    this.#members = listMembers(options.kept, options.groups);
    this.#at = new Map(
      this.#members.flatMap((places, position) =>
        places.map((place) => [place, position] as const),
      ),
    );
    this.#environment = net.environment.filter(({ place }) => this.#at.has(place));
    this.#outside = net.places.flatMap(({ index }) => {
      const inhibits = net.transitions.some(
        (t) => live.transitions.has(t.index) && this.#isWhole(t) && t.unless.includes(index),
      );
      return inhibits && !this.#at.has(index) && live.places.has(index) ? [index] : [];
    });
    const counts = net.transitions.flatMap((t) => [
      ...t.takes.map(({ count }) => count),
      ...t.reads.map(({ count }) => count),
      ...t.alternatives.flatMap(({ outputs }) =>
        outputs.flatMap(({ place, max }) =>
          this.#at.has(place) && !this.#isSaturated(place) ? [max] : [],
        ),
      ),
    ]);
    this.#cap = Math.min(MOST_CAP, Math.max(LEAST_CAP, 1 + Math.max(0, ...counts)));
  }

  build(): View {
    const { contracts, sums = [] } = this.#options;
    for (const t of this.#net.transitions) {
      if (this.#live.transitions.has(t.index)) this.#add(t);
      if (t.keyed) this.#addBrokenKeys(t);
    }
    this.#net.environment.forEach(({ place }) => this.#addInjection(place));
    const moves = [...this.#moves].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, move]) => move);
    const now = moves.filter(({ when }) => when === 'now');
    const priorities = [...new Set(now.map(({ priority }) => priority))].toSorted((a, b) => b - a);
    return {
      members: this.#members,
      groups: this.#members.flatMap((places, place) => {
        const grouped = places.filter((one) => this.#grouped.has(one));
        return grouped.length === 0 ? [] : [{ place, takers: this.#takers(grouped) }];
      }),
      sums: sums.map((sum) => this.#sum(sum)),
      outside: this.#outside,
      running: this.#members.flatMap((places, position) =>
        places.every((place) => this.#isRunning(place)) ? [position] : [],
      ),
      initial: this.#members.map((places) => this.#initialCount(places)),
      environment: this.#environment.map(({ tokens }) => tokens),
      faults: this.#net.faults,
      caps: this.#members.map(([place = -1]) => this.#readCap(place)),
      contracts,
      blocks: this.#blocks(),
      now: priorities.map((one) => now.filter(({ priority }) => priority === one)),
      arrivals: moves.filter(({ when }) => when === 'arrival'),
      timers: moves.filter(({ when }) => when === 'timer'),
    };
  }

  #blocks(): readonly ViewBlock[] {
    const { contracts } = this.#options;
    const named = contracts.map(({ contract }) => {
      const names = contract.events.flatMap(({ on: { gives = [], takes = [], empties = [] } }) => [
        ...gives,
        ...takes,
        ...empties,
      ]);
      return new Set(names.flatMap((name) => this.#at.get(this.#place(name)) ?? []));
    });
    return contracts.flatMap(({ checks }, contract) => {
      if (checks !== 'environment') return [];
      const places = [...(named[contract] ?? [])].filter((place) =>
        named.every((others, index) => index === contract || !others.has(place)),
      );
      return [{ contract, places }];
    });
  }

  /** The count of a place that means this many or more. */
  #readCap(place: number): number {
    if (this.#grouped.has(place)) return GROUP_CAP;
    if (!this.#isCounted(place)) return 1;
    return this.#isSaturated(place) ? LEAST_CAP : this.#cap;
  }

  /**
   * True for a place of which the view counts few tokens, such as a budget: one firing gives it many tokens without a
   * value, and others take them one by one. The view then holds for every number of tokens that it may have.
   */
  #isSaturated(place: number): boolean {
    const { countsBudgets = false, countsOnlyThose = false, counted } = this.#options;
    if (counted?.has(place) === true) return false;
    return countsOnlyThose || (!countsBudgets && isBudget(this.#net, place));
  }

  /** False for a place whose tokens are only taken all at once: one and several tokens then allow the same. */
  #isCounted(place: number): boolean {
    return (
      this.#options.counted?.has(place) === true ||
      this.#isRunning(place) ||
      this.#net.transitions.some(
        (t) =>
          t.reads.some((input) => input.place === place && input.count > 1) ||
          t.takes.some(
            (input, index) =>
              input.place === place &&
              (input.mode !== 'all' ||
                input.slot >= 0 ||
                input.count > 1 ||
                t.alternatives.some(({ outputs }) => outputs.some(({ each }) => each === index))),
          ),
      )
    );
  }

  #initialCount(places: readonly number[]): number {
    const names = new Set(places.map((place) => this.#net.places[place]?.name));
    return this.#net.net.initial
      .filter((token) => names.has(token.place.name))
      .reduce((all, { times }) => all + times, 0);
  }

  #isRunning(place: number): boolean {
    return (this.#net.places[place]?.effect ?? -1) >= 0;
  }

  #takers(places: readonly number[]): readonly (readonly MoveNeeds[])[] {
    return places
      .filter((place) => !this.#isRunning(place))
      .map((place) => {
        const needs = this.#net.transitions.flatMap((t) => this.#listNeeds(t, place));
        return [...new Map(needs.map((one) => [JSON.stringify(one), one])).values()];
      });
  }

  /** What a transition needs beside one token of a place in a group; nothing if a view cannot tell whether it is met. */
  #listNeeds(t: ExpandedTransition, place: number): readonly MoveNeeds[] {
    const isOther = (input: { readonly place: number }): boolean => input.place !== place;
    const [only, ...more] = t.takes.filter((input) => !isOther(input));
    // The bounds may keep every place empty that it gives a token to. Then it never fires.
    if (t.kind === 'pure' && t.alternatives.length === 0) return [];
    if (only === undefined || more.length > 0 || only.mode === 'all' || only.count !== 1) return [];
    if (!this.#live.transitions.has(t.index) || (t.timed !== 'no' && t.timed !== 'finite'))
      return [];
    const isCertain =
      this.#isWhole(t, place) &&
      t.unless.every((one) => this.#at.has(one) || !this.#live.places.has(one));
    if (!isCertain) return [];
    const takes = t.takes.flatMap((input, index) =>
      isOther(input) && leastTokens(t, index) > 0
        ? this.#input(input.place, leastTokens(t, index)).map((one): MoveInput => ({
            ...one,
            mode: 'count',
            most: undefined,
          }))
        : [],
    );
    const reads = t.reads.flatMap((read) => this.#input(read.place, read.count));
    return [{ takes, reads, unless: this.#positions(t.unless), limit: this.#limit(t) }];
  }

  #sum(sum: TokenSum): ViewSum {
    const weights = this.#members.flatMap((places, place) => {
      const all = places.map((one) => sum.get(one) ?? 0);
      const [least, most] = [Math.min(...all), Math.max(...all)];
      return least === 0 && most === 0 ? [] : [{ place, least, most }];
    });
    const initial = [...sum].reduce(
      (total, [place, weight]) => total + weight * this.#initialCount([place]),
      0,
    );
    return { initial, weights };
  }

  /** Adds the moves of a transition: its firings, the ends of its firings in flight, and their faults. */
  #add(t: ExpandedTransition): void {
    const { bounds } = this.#net;
    const leftOut = t.unless.flatMap((place) => {
      const position = this.#outside.indexOf(place);
      return position < 0 ? [] : [position];
    });
    const isWhole = this.#isWhole(t);
    const isCertain =
      isWhole && t.unless.every((place) => this.#at.has(place) || !this.#live.places.has(place));
    const positions = new Map<number, number>();
    const takes: MoveInput[] = [];
    t.takes.forEach(({ place, mode, slot }, index) => {
      const position = this.#at.get(place);
      if (position === undefined) return;
      const input: MoveInput = {
        place: position,
        mode: mode !== 'all' ? 'count' : slot >= 0 ? 'some' : 'all',
        count: leastTokens(t, index),
        most: undefined,
      };
      const same = this.#grouped.has(place)
        ? takes.findIndex((one) => one.place === position && one.mode === input.mode)
        : -1;
      const before = takes[same];
      // Inputs from places of one group add up.
      if (before !== undefined) takes[same] = { ...input, count: before.count + input.count };
      else {
        positions.set(index, takes.length);
        takes.push(input);
      }
    });
    const shape = {
      takes,
      reads: t.reads.flatMap(({ place, count }) => this.#input(place, count)),
      unless: this.#positions(t.unless),
      limit: this.#limit(t),
      priority: t.priority,
      when: t.timed === 'no' ? ('now' as const) : ('timer' as const),
      isCertain: isCertain && !(t.kind === 'effect' && bounds.shutdowns),
      prevents: isCertain && (t.timed === 'no' || t.timed === 'finite'),
      ifEmpty: isWhole && (t.timed === 'no' || t.timed === 'finite') ? leftOut : undefined,
    };
    const resets = this.#positions(t.resets);
    if (t.timed !== 'never') {
      const fired: readonly Variant[] =
        t.kind === 'pure'
          ? t.alternatives.flatMap((one) => this.#variants(t, one, positions))
          : [this.#deposit(t.running)];
      for (const variant of fired) this.#addMove(t, 'begins', { ...shape, resets }, variant);
      this.#addFault(t, shape);
    }
    if (t.kind === 'pure') return;
    const arrival = {
      ...loose,
      takes: this.#one(t.running),
      when: 'arrival' as const,
    };
    for (const variant of t.alternatives.flatMap((one) => this.#variants(t, one, new Map())))
      this.#addMove(t, 'ends', arrival, variant);
    this.#addFault(t, arrival, 'ends');
  }

  /** True if the view keeps everything that the transition needs, apart from inhibitors, and from `besides`. */
  #isWhole(t: ExpandedTransition, besides: number = -1): boolean {
    const isKept = (place: number): boolean =>
      place === besides || (this.#at.has(place) && !this.#grouped.has(place));
    return (
      !t.keyed &&
      t.takes.every(({ place }, index) => isKept(place) || leastTokens(t, index) === 0) &&
      t.reads.every(({ place, count }) => isKept(place) || count === 0) &&
      (!Number.isFinite(t.concurrency) || this.#at.has(t.running))
    );
  }

  #addInjection(place: number): void {
    const environment = this.#environment.findIndex((one) => one.place === place);
    this.#addMove(
      undefined,
      'injected',
      { ...loose, when: 'arrival', environment },
      this.#deposit(place),
    );
  }

  /** A key function that throws: the firing is a fault that holds only that token. */
  #addBrokenKeys(t: ExpandedTransition): void {
    for (const input of t.takes) {
      if (input.slot < 0) continue;
      const priority = t.timed === 'no' ? t.priority : AFTER_ALL;
      this.#addFault(
        t,
        { ...loose, takes: this.#one(input.place), priority, when: 'now' },
        'broken',
        input.place,
      );
    }
  }

  #addFault(t: ExpandedTransition, shape: Shape, kind: StepKind = 'faults', broken = -1): void {
    if (this.#net.faults === 0) return;
    const { fault, unhandledFault } = this.#net;
    // A firing that may have taken a fault ends as an unhandled one.
    const holds = t.takes.filter(({ place }) => place === fault);
    const places =
      holds.length === 0
        ? [fault]
        : holds.some(({ count }) => count > 0) && kind !== 'broken'
          ? [unhandledFault]
          : [fault, unhandledFault];
    for (const place of places)
      this.#addMove(
        t,
        kind === 'ends' ? 'ends-faulted' : kind,
        { ...shape, faults: 1 },
        this.#deposit(place),
        broken,
      );
  }

  #addMove(
    t: ExpandedTransition | undefined,
    kind: StepKind,
    shape: Shape,
    variant: Variant,
    broken = -1,
  ): void {
    const { gives, added, finds } = variant;
    const resets = shape.resets ?? [];
    const takes = kind === 'begins' || kind === 'faults';
    const step = {
      t: t?.index ?? -1,
      begins: kind === 'begins',
      ends: kind === 'ends',
      takes,
      added,
    };
    const watched = this.#options.watch(step);
    const events = this.#options.contracts.map((one) => this.#events(one, t, kind, variant));
    const move = {
      takes: shape.takes.map((input, index) => {
        const found = finds?.get(index);
        return found === undefined
          ? input
          : { ...input, count: Math.max(input.count, found.count), most: found.most };
      }),
      reads: shape.reads ?? [],
      unless: shape.unless ?? [],
      limit: shape.limit,
      resets,
      gives: gives.filter(({ count, each }) => count > 0 || each >= 0),
      faults: shape.faults ?? 0,
      environment: shape.environment ?? -1,
      when: shape.when,
      priority: shape.priority ?? 0,
      isCertain: shape.isCertain ?? false,
      prevents: shape.prevents ?? false,
      ifEmpty: shape.ifEmpty,
      events,
      changes: (this.#options.sums ?? []).map((sum) => ({
        gained: weigh(sum, added),
        lost: weigh(sum, this.#listTaken(t, kind, broken)),
      })),
      watched,
      within: this.#options.contracts.flatMap(({ inside }, contract) =>
        watched.some(isCountedKind) && inside.has(step.t) ? [contract] : [],
      ),
    };
    if (isIdle(move)) return;
    const key = JSON.stringify(move);
    const { name, begins } = this.#moves.get(key) ?? {
      name: t?.name ?? 'a token from outside',
      begins: [],
    };
    const begun = kind === 'begins' && t !== undefined ? [t.index] : [];
    this.#moves.set(key, { name, ...move, begins: [...begins, ...begun] });
  }

  /** The tokens that a step takes one by one, by place. */
  #listTaken(
    t: ExpandedTransition | undefined,
    kind: StepKind,
    broken: number,
  ): ReadonlyMap<number, number> {
    if (t === undefined || kind === 'injected') return new Map();
    if (kind === 'broken') return new Map([[broken, 1]]);
    if (kind === 'ends' || kind === 'ends-faulted') return new Map([[t.running, 1]]);
    return new Map(t.takes.map(({ place }) => [place, countTaken(t, place)]));
  }

  /** The events of a step for one contract, in the order of the contract. */
  #events(
    { contract, inside }: ObservedContract,
    t: ExpandedTransition | undefined,
    kind: StepKind,
    variant: Variant,
  ): readonly number[] {
    return contract.events.flatMap(({ on }, event) => {
      const times = this.#matches(on, inside, t, kind, variant);
      return Array.from({ length: times }, () => event);
    });
  }

  #matches(
    { gives, takes, empties, faults, by }: StepPattern,
    inside: ReadonlySet<number>,
    t: ExpandedTransition | undefined,
    kind: StepKind,
    { added, returned, refilled }: Variant,
  ): number {
    const isInside = t !== undefined && inside.has(t.index);
    if (by !== undefined && (by === 'component') !== isInside) return 0;
    const isFault = kind === 'faults' || kind === 'broken' || kind === 'ends-faulted';
    if (faults === true && !isFault) return 0;
    const fires = kind === 'begins' || kind === 'faults';
    const taken = (place: number): number =>
      t === undefined || !fires ? 0 : countTaken(t, place) + (returned?.get(place) ?? 0);
    const gained = (name: string): number => {
      const place = this.#place(name);
      return (added.get(place) ?? 0) - taken(place);
    };
    if (takes !== undefined && !takes.some((name) => gained(name) < 0)) return 0;
    if (empties !== undefined) {
      if (t === undefined || kind !== 'begins') return 0;
      const emptied = empties.every((name) => {
        const place = this.#place(name);
        return (
          t.resets.includes(place) ||
          (refilled?.has(place) !== true &&
            t.takes.some(
              (input) => input.place === place && input.mode === 'all' && input.slot < 0,
            ))
        );
      });
      if (!emptied) return 0;
    }
    if (gives === undefined) return 1;
    return Math.min(MOST_GAINED, Math.max(0, ...gives.map(gained)));
  }

  /** Lists how many tokens an alternative may add to the places of the view. */
  #variants(
    t: ExpandedTransition,
    { outputs }: ExpandedAlternative,
    positions: ReadonlyMap<number, number>,
  ): readonly Variant[] {
    const seen = outputs.filter(
      ({ place }) => this.#at.has(place) || this.#options.tracked.has(place),
    );
    /** An input whose tokens are given on to a place where their number decides events. */
    const isGivenOn = ({ place, each }: ExpandedOutput): boolean =>
      t.takes[each]?.mode === 'all' && (!positions.has(each) || this.#options.tracked.has(place));
    const refilled = outputs.flatMap(({ place, each }) => {
      const input = t.takes[each];
      return input?.mode === 'all' && input.place === place ? [place] : [];
    });
    let variants: readonly Variant[] = [
      { gives: [], added: new Map(), refilled: new Set(refilled) },
    ];
    for (const each of new Set(seen.filter(isGivenOn).map((output) => output.each)))
      variants = this.#giveOn(t, each, variants, {
        outputs: seen.filter((output) => output.each === each && isGivenOn(output)),
        position: positions.get(each),
      });
    for (const output of seen) {
      if (isGivenOn(output)) continue;
      const { place, each, min, max } = output;
      const input = t.takes[each];
      const position = this.#at.get(place);
      if (input?.mode === 'all') {
        const given = { place: position ?? -1, count: 0, each: positions.get(each) ?? -1 };
        variants = variants.map((one) => ({ ...one, gives: [...one.gives, given] }));
        continue;
      }
      const [least, most] =
        input === undefined
          ? [min, Math.min(max, this.#mostAdded(t, place))]
          : [input.count, input.count];
      variants = variants.flatMap((variant) =>
        Array.from({ length: Math.max(0, most - least) + 1 }, (_, index) =>
          addTokens(variant, place, position, least + index),
        ),
      );
    }
    return variants;
  }

  /** The variants of a firing that gives on all tokens of an input: one for each number of tokens. */
  #giveOn(
    t: ExpandedTransition,
    each: number,
    variants: readonly Variant[],
    {
      outputs,
      position,
    }: { readonly outputs: readonly ExpandedOutput[]; readonly position: number | undefined },
  ): readonly Variant[] {
    const input = t.takes[each];
    if (input === undefined) return variants;
    // This number of tokens means that many or more.
    const most = Math.max(...[input, ...outputs].map(({ place }) => this.#mostAdded(t, place)));
    const isReturned = outputs.some(({ place }) => place === input.place);
    return variants.flatMap((variant) =>
      Array.from({ length: most + 1 }, (_, count): Variant => {
        const added = outputs.reduce<Variant>(
          (one, { place }) => addTokens(one, place, this.#at.get(place), count),
          variant,
        );
        return {
          ...added,
          // What is given on to another place is no loss that every view sees.
          ...(isReturned && { returned: new Map(variant.returned).set(input.place, count) }),
          // Of a keyed input, the firing takes some of the tokens that it finds.
          ...(position !== undefined &&
            input.slot < 0 && {
              finds: new Map(variant.finds).set(position, {
                count,
                most: count < most ? count : undefined,
              }),
            }),
        };
      }),
    );
  }

  /** A firing that adds more tokens than this to a place is like one that adds this many. */
  #mostAdded(t: ExpandedTransition, place: number): number {
    const cap = this.#at.has(place) ? this.#readCap(place) : this.#cap;
    // An event sees what the firing adds beyond what it takes: none, one or more.
    return Math.max(cap, countTaken(t, place) + MOST_GAINED);
  }

  #deposit(place: number): Variant {
    const position = this.#at.get(place);
    return {
      gives: position === undefined ? [] : [{ place: position, count: 1, each: -1 }],
      added: new Map([[place, 1]]),
    };
  }

  #limit({ concurrency, running }: ExpandedTransition): readonly [number, number] | undefined {
    const position = this.#at.get(running);
    return Number.isFinite(concurrency) && position !== undefined
      ? [position, concurrency]
      : undefined;
  }

  #input(
    place: number,
    count: number,
  ): readonly { readonly place: number; readonly count: number }[] {
    const position = this.#at.get(place);
    return position === undefined ? [] : [{ place: position, count }];
  }

  /** The input of a firing that takes one token of a place; none if the view leaves the place out. */
  #one(place: number): readonly MoveInput[] {
    return this.#input(place, 1).map((one) => ({ ...one, mode: 'count', most: undefined }));
  }

  #positions(places: readonly number[]): readonly number[] {
    return [...new Set(places.flatMap((place) => this.#at.get(place) ?? []))];
  }

  #place(name: string): number {
    return this.#net.placeIndex.get(name) ?? -1;
  }
}

/** True for a place that one firing fills with many tokens without a value, and that others take one by one. */
export function isBudget({ net, places, transitions }: ExpandedNet, place: number): boolean {
  const known = net.places.get(places[place]?.name ?? '');
  if (known?.kind !== 'tokens' || known.schema !== undefined || known.environment) return false;
  const outputs = transitions.flatMap((t) =>
    t.alternatives.flatMap((one) => one.outputs.filter((output) => output.place === place)),
  );
  const isTakenByOne = transitions.every(({ takes, reads, alternatives }) => {
    const inputs = takes.filter((input) => input.place === place);
    const isCopied = alternatives.some((one) =>
      one.outputs.some(({ each }) => takes[each]?.place === place),
    );
    const isRead = reads.some((read) => read.place === place && read.count > 1);
    return inputs.every(({ count, slot }) => count <= 1 && slot < 0) && !isCopied && !isRead;
  });
  return isTakenByOne && outputs.some(({ isUpTo, max }) => isUpTo && max > LEAST_CAP);
}

/** Adds tokens of one place to a variant. Without a position, the view only sees that they are added. */
function addTokens(
  variant: Variant,
  place: number,
  position: number | undefined,
  count: number,
): Variant {
  return {
    ...variant,
    gives:
      position === undefined
        ? variant.gives
        : [...variant.gives, { place: position, count, each: -1 }],
    added: new Map(variant.added).set(place, (variant.added.get(place) ?? 0) + count),
  };
}

type StepKind = 'begins' | 'faults' | 'broken' | 'ends' | 'ends-faulted' | 'injected';
type Shape = Pick<ViewMove, 'takes' | 'when'> & Partial<ViewMove>;

/** The least number of tokens that an input takes. A timed transition needs a token that carries its clock. */
function leastTokens({ takes, timed }: ExpandedTransition, index: number): number {
  const count = takes[index]?.count ?? 0;
  return index === 0 && timed !== 'no' ? Math.max(1, count) : count;
}

/** The number of tokens of a place that every firing takes, apart from inputs that take all. */
function countTaken({ takes }: ExpandedTransition, place: number): number {
  return takes
    .filter((input) => input.place === place && input.mode !== 'all')
    .reduce((all, { count }) => all + count, 0);
}

function weigh(sum: TokenSum, tokens: ReadonlyMap<number, number>): number {
  return [...tokens].reduce((all, [place, count]) => all + (sum.get(place) ?? 0) * count, 0);
}

/** A move that needs nothing but its inputs, and that nothing can rely on. */
const loose = { takes: [], priority: 0, isCertain: false, prevents: false } as const;

/** True for a move that changes nothing in the view and tells it nothing. */
function isIdle(move: Omit<ViewMove, 'name' | 'begins'>): boolean {
  return (
    !move.isCertain &&
    !move.prevents &&
    (move.ifEmpty === undefined || move.when === 'arrival') &&
    move.takes.length === 0 &&
    move.resets.length === 0 &&
    move.gives.length === 0 &&
    move.faults === 0 &&
    move.environment < 0 &&
    move.watched.length === 0 &&
    move.changes.every(({ gained, lost }) => gained === lost) &&
    move.events.every((events) => events.length === 0)
  );
}
