import { InvalidPropertyError } from './verify-errors.ts';

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
export type Property =
  | DeadlockFree
  | PlaceBound
  | MutualExclusion
  | Unreachable
  | AtMost
  | GivesAtMost
  | NeverFiresAfter
  | JoinedOrDeadLettered
  | EventuallyAnswered;

/** If nothing can happen without input from outside, the marking is one of `resting`. */
export interface DeadlockFree {
  readonly kind: 'deadlockFree';
  readonly name: string;
  readonly resting: readonly QuiescentMarking[];
}

/** These places together never hold more than `max` tokens. */
export interface PlaceBound {
  readonly kind: 'placeBound';
  readonly name: string;
  readonly places: readonly string[];
  readonly max: number;
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

/** These transitions together fire at most `max` times. With `per`, the count restarts at each token taken from that place. */
export interface AtMost {
  readonly kind: 'atMost';
  readonly name: string;
  readonly transitions: readonly string[];
  readonly max: number;
  readonly per: string | undefined;
}

/**
 * At most `max` tokens are added to this place, or leave through this outlet. With `per`, the count restarts at each
 * token taken from that place.
 */
export interface GivesAtMost {
  readonly kind: 'givesAtMost';
  readonly name: string;
  readonly place: string;
  readonly max: number;
  readonly per: string | undefined;
}

/** After `place` received a token, none of these transitions fires until the event `until`. */
export interface NeverFiresAfter {
  readonly kind: 'neverFiresAfter';
  readonly name: string;
  readonly transitions: readonly string[];
  readonly place: string;
  readonly until: string | undefined;
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
 * The net never stops, except in a marking of `resting`. Stopped means that nothing can happen without input from
 * outside. A string is a place that may hold tokens at rest; all strings together are one resting marking that requires
 * no token.
 */
export function deadlockFree(resting: readonly (string | QuiescentMarking)[] = []): DeadlockFree {
  const allowed = resting.filter((one) => typeof one === 'string');
  const markings = resting.filter((one) => typeof one !== 'string');
  return {
    kind: 'deadlockFree',
    name: 'deadlock-free',
    resting: [...(allowed.length > 0 ? [{ marked: [], allowed }] : []), ...markings],
  };
}

/**
 * These places together never hold more than `max` tokens.
 * @throws InvalidPropertyError if `places` is empty, or if `max` is not an integer of at least 0.
 */
export function placeBound(places: string | readonly string[], max: number): PlaceBound {
  const list = toNonEmptyList('places', places);
  return {
    kind: 'placeBound',
    name: `at most ${natural('max', max)} in ${list.join(' + ')}`,
    places: list,
    max,
  };
}

/**
 * No two of these places hold tokens at the same time.
 * @throws InvalidPropertyError if there are fewer than two places.
 */
export function mutualExclusion(...places: readonly string[]): MutualExclusion {
  if (places.length < 2) throw new InvalidPropertyError('places', 'must be at least two');
  return { kind: 'mutualExclusion', name: `only one of ${places.join(', ')} is marked`, places };
}

/**
 * No reachable marking has at least the counts of `marked` and no token in the places of `empty`. A string for `marked`
 * means at least one token in that place.
 * @throws InvalidPropertyError if a count is not an integer of at least 0.
 */
export function unreachable(
  marked: string | Readonly<Record<string, number>>,
  empty: readonly string[] = [],
): Unreachable {
  const counts = typeof marked === 'string' ? { [marked]: 1 } : marked;
  for (const [place, count] of Object.entries(counts)) natural(`marked["${place}"]`, count);
  const has = Object.entries(counts).map(([place, count]) => `${count} in ${place}`);
  const none = empty.map((place) => `none in ${place}`);
  return {
    kind: 'unreachable',
    name: `never ${[...has, ...none].join(' and ')}`,
    marked: counts,
    empty,
  };
}

/**
 * The transition fires at most once. With `per`, the count restarts at each token taken from that place. An effect
 * fires when it starts.
 */
export function atMostOnce(transition: string, options: { readonly per?: string } = {}): AtMost {
  return atMost([transition], 1, options);
}

/** At most one of several transitions fires. With `per`, the count restarts at each token taken from that place. */
export function atMostOneCommits(
  commits: readonly string[],
  options: { readonly per?: string } = {},
): AtMost {
  return atMost(commits, 1, options);
}

/**
 * These transitions together fire at most `max` times. With `per`, the count restarts at each token taken from that
 * place. An effect fires when it starts.
 * @throws InvalidPropertyError if `transitions` is empty, or if `max` is not an integer of at least 0.
 */
export function atMost(
  transitions: readonly string[],
  max: number,
  { per }: { readonly per?: string } = {},
): AtMost {
  const list = toNonEmptyList('transitions', transitions);
  const each = per === undefined ? '' : ` per token of ${per}`;
  return {
    kind: 'atMost',
    name: `${list.join(' or ')} at most ${times(natural('max', max))}${each}`,
    transitions: list,
    max,
    per,
  };
}

/**
 * The re-ask budget is kept: for each token taken from `per`, `ask` fires at most `budget` + 1 times.
 * @throws InvalidPropertyError if `budget` is not an integer of at least 0.
 */
export function reaskBudgetIsBounded(options: {
  readonly ask: string;
  readonly budget: number;
  readonly per: string;
}): AtMost {
  const bounded = atMost([options.ask], natural('budget', options.budget) + 1, {
    per: options.per,
  });
  return { ...bounded, name: `re-ask budget: ${bounded.name}` };
}

/**
 * At most `max` tokens are added to `place`, which may be an outlet. With `per`, the count restarts at each token taken
 * from that place.
 * @throws InvalidPropertyError if `max` is not an integer of at least 0.
 */
export function eventOutBounded(
  place: string,
  max: number,
  { per }: { readonly per?: string } = {},
): GivesAtMost {
  const each = per === undefined ? '' : ` per token of ${per}`;
  return {
    kind: 'givesAtMost',
    name: `at most ${natural('max', max)} into ${place}${each}`,
    place,
    max,
    per,
  };
}

/**
 * After `place` received a token, none of these transitions fires or starts until the event `until`. Default of `until`:
 * no end.
 * @throws InvalidPropertyError if `transitions` is empty.
 */
export function neverFiresAfter(
  transitions: string | readonly string[],
  place: string,
  { until }: { readonly until?: string } = {},
): NeverFiresAfter {
  const list = toNonEmptyList('transitions', transitions);
  return {
    kind: 'neverFiresAfter',
    name: `${list.join(', ')} never after ${place}${until === undefined ? '' : ` until ${until}`}`,
    transitions: list,
    place,
    until,
  };
}

/**
 * After `place` received a token, none of these effects starts until the event `until`.
 * @throws InvalidPropertyError if `effects` is empty.
 */
export function noFireAfterEndInvocation(
  effects: readonly string[],
  place: string,
  options: { readonly until?: string } = {},
): NeverFiresAfter {
  return neverFiresAfter(effects, place, options);
}

/**
 * For each token that is taken or dropped from `from`, exactly one token arrives at `joined` or at one of `deadLetters`.
 * When the net stops, no place of `through` holds a token. A failed firing counts as a dead letter only if
 * `deadLetters` contains `net.fault`.
 */
export function joinedOrDeadLettered(options: {
  readonly from: string;
  readonly joined: string;
  readonly deadLetters?: readonly string[];
  readonly through?: readonly string[];
}): JoinedOrDeadLettered {
  const { from, joined, deadLetters = [], through = [] } = options;
  return {
    kind: 'joinedOrDeadLettered',
    name: `each token of ${from} comes to ${[joined, ...deadLetters].join(' or ')}, once`,
    from,
    joined,
    deadLetters,
    through,
  };
}

/**
 * Each event `asked` is followed by one event of `answered`. While one is missing, the net does not loop, and rests only
 * in a marking of `resting`, where it waits for input from outside.
 * @throws InvalidPropertyError if `answered` is empty.
 */
export function eventuallyAnswered(
  asked: string,
  answered: string | readonly string[],
  { resting = [] }: { readonly resting?: readonly QuiescentMarking[] } = {},
): EventuallyAnswered {
  const list = toNonEmptyList('answered', answered);
  return {
    kind: 'eventuallyAnswered',
    name: `${asked} is answered by ${list.join(' or ')}`,
    asked,
    answered: list,
    resting,
  };
}

function toNonEmptyList(field: string, names: string | readonly string[]): readonly string[] {
  const list = typeof names === 'string' ? [names] : names;
  if (list.length === 0) throw new InvalidPropertyError(field, 'must not be empty');
  return list;
}

function natural(field: string, value: number): number {
  if (Number.isInteger(value) && value >= 0) return value;
  throw new InvalidPropertyError(field, `must be an integer of at least 0; it is ${value}`);
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
