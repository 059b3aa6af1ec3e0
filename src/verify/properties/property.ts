import type { NameOrNames } from './name-list.ts';

/**
 * A marking in which a net may rest. Every place of `marked` has a token. Places of `allowed` may have tokens. No other
 * place has one.
 */
export interface QuiescentMarking {
  readonly marked: readonly string[];
  readonly allowed?: readonly string[];
}

/**
 * A property of a net, as data. Places have the names of the net; `running(t)` is the place of the firings of an effect
 * in flight. An *event* is the name of a transition (it fires or starts) or of a place (a token is added to it).
 */
export type Property = SearchedProperty | DerivedProperty;

/** A property that names everything it is about. A search or a solver decides it. */
export type SearchedProperty =
  | DeadlockFree
  | PlaceBound
  | MutualExclusion
  | Unreachable
  | AtMost
  | GivesAtMost
  | NeverFiresAfter
  | Precedes
  | NeverStale
  | NeverTakes
  | JoinedOrDeadLettered
  | EventuallyAnswered
  | Eventually
  | CanFire
  | Settles;

/** A property whose places and transitions are found in the net. `resolveProperty` finds them. */
export type DerivedProperty = Bounded | Isolated | JoinsComplete | NoStaleCommits;

/** If nothing can happen without input from outside, the marking is one of `resting`. */
export interface DeadlockFree {
  readonly kind: 'deadlockFree';
  readonly name: string;
  readonly resting: readonly QuiescentMarking[];
}

/** These places together never hold more than `max` tokens. With `each`, none of them does. */
export interface PlaceBound {
  readonly kind: 'placeBound';
  readonly name: string;
  readonly places: readonly string[];
  readonly max: number;
  readonly each?: true;
}

/** No two of these places hold tokens at the same time. */
export interface MutualExclusion {
  readonly kind: 'mutualExclusion';
  readonly name: string;
  readonly places: readonly string[];
}

/** No reachable marking has at least the counts of `marked` and no token in the places of `empty`. */
export interface Unreachable {
  readonly kind: 'unreachable';
  readonly name: string;
  readonly marked: Readonly<Record<string, number>>;
  readonly empty: readonly string[];
}

/**
 * These transitions together fire at most `max` times. With `per`, the count restarts at each token taken from that
 * place, or from one of several. With `costs`, each firing counts as much as its transition costs; a transition without a cost counts once.
 */
export interface AtMost {
  readonly kind: 'atMost';
  readonly name: string;
  readonly transitions: readonly string[];
  readonly max: number;
  readonly per: NameOrNames | undefined;
  readonly costs?: Readonly<Record<string, number>>;
}

/**
 * At most `max` tokens are added to this place, or leave through this outlet. With `per`, the count restarts at each
 * token taken from that place, or from one of several.
 */
export interface GivesAtMost {
  readonly kind: 'givesAtMost';
  readonly name: string;
  readonly place: string;
  readonly max: number;
  readonly per: NameOrNames | undefined;
}

/** After the event `place`, none of these transitions fires until the event `until`, or one of several. */
export interface NeverFiresAfter {
  readonly kind: 'neverFiresAfter';
  readonly name: string;
  readonly transitions: readonly string[];
  readonly place: string;
  readonly until: NameOrNames | undefined;
}

/** For each token that leaves `from`, exactly one token arrives at `joined` or at a dead letter, and none is left between. */
export interface JoinedOrDeadLettered {
  readonly kind: 'joinedOrDeadLettered';
  readonly name: string;
  readonly from: string;
  readonly joined: string;
  readonly deadLetters: readonly string[];
  readonly through: readonly string[];
}

/** While a question is open, the net does not loop, and rests only in a marking of `resting`. */
export interface EventuallyAnswered {
  readonly kind: 'eventuallyAnswered';
  readonly name: string;
  readonly asked: string;
  readonly answered: readonly string[];
  /** The markings in which an open question may wait for input from outside. */
  readonly resting: readonly QuiescentMarking[];
}

/**
 * None of these transitions fires before the event `first`. With `each`, every firing needs an event of its own.
 * With `per`, everything starts again at each token taken from that place, or from one of several.
 */
export interface Precedes {
  readonly kind: 'precedes';
  readonly name: string;
  readonly first: string;
  readonly transitions: readonly string[];
  readonly each: boolean;
  readonly per: NameOrNames | undefined;
}

/**
 * None of the transitions `commits` fires while a place of `work` holds a token that was there when a transition of
 * `renewals` fired: the work is older than the latest generation. Tokens of `work` are told apart only by this: all work
 * is new again when the places are empty.
 */
export interface NeverStale {
  readonly kind: 'neverStale';
  readonly name: string;
  readonly commits: readonly string[];
  readonly renewals: readonly string[];
  readonly work: readonly string[];
}

/** None of the transitions `by` ever fires with a token of `places`, neither by taking it nor by a reset. */
export interface NeverTakes {
  readonly kind: 'neverTakes';
  readonly name: string;
  readonly by: readonly string[];
  readonly places: readonly string[];
}

/**
 * After the event `after`, or from the start if there is none, one of `events` happens, provided that each step which
 * stays possible happens at some time. Faults, inputs from outside and clocks that may never expire are not counted on.
 */
export interface Eventually {
  readonly kind: 'eventually';
  readonly name: string;
  readonly events: readonly string[];
  readonly after: string | undefined;
  /** The markings in which the net may wait for input from outside. */
  readonly resting: readonly QuiescentMarking[];
}

/** Each of these transitions fires in some order of events. */
export interface CanFire {
  readonly kind: 'canFire';
  readonly name: string;
  readonly transitions: readonly string[];
}

/** No place of the net ever holds more than `max` tokens. */
export interface Bounded {
  readonly kind: 'bounded';
  readonly name: string;
  readonly max: number;
}

/**
 * Nothing flows between two parts of a net. A part has the places and transitions whose names start with its name and
 * `/`. No transition of one part ever fires with an arc to a place of the other, or to a place that the other fills.
 */
export interface Isolated {
  readonly kind: 'isolated';
  readonly name: string;
  readonly parts: readonly [string, string];
  /** The places through which the parts may exchange tokens. */
  readonly through: readonly string[];
}

/**
 * No commit is older than the latest generation. A *generation* is a place with one token that transitions replace and
 * others read. A transition that reads it and can skip an output commits to that output.
 */
export interface NoStaleCommits {
  readonly kind: 'noStaleCommits';
  readonly name: string;
}

/**
 * No join waits in vain. A *join* takes a token of each of several places. None of the transitions `ends` takes what
 * waits at some inputs of a join because the others got no token.
 */
export interface JoinsComplete {
  readonly kind: 'joinsComplete';
  readonly name: string;
  /** The transitions that give up the wait. If empty, they are found from the net. */
  readonly ends: readonly string[];
}

/** Every settling ends: firings that need no effect, no input and no passing time never go on without end. */
export interface Settles {
  readonly kind: 'settles';
  readonly name: string;
}
