import { InvalidPropertyError } from './verify-errors.ts';

/** A marking in which a net may rest: every place of `marked` has a token, and no place but these and `allowed` has one. */
export interface QuiescentMarking {
  readonly marked: readonly string[];
  readonly allowed?: readonly string[];
}

/**
 * What is to be proved, as data. Places are named as in the net, `running(t)` for the firings of an effect in flight.
 * An *event* is the name of a transition (it fires, or starts) or of a place (a token is put there).
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

/** Where nothing can happen without input from outside, the net rests as declared. */
export interface DeadlockFree {
  readonly kind: 'deadlockFree';
  readonly name: string;
  readonly resting: readonly QuiescentMarking[];
}

/** These places never hold more than `max` tokens together. */
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

/** No marking has at least so many tokens in these places and none in those. */
export interface Unreachable {
  readonly kind: 'unreachable';
  readonly name: string;
  readonly marked: Readonly<Record<string, number>>;
  readonly empty: readonly string[];
}

/** These transitions together fire at most `max` times; with `per`, between two tokens taken from that place. */
export interface AtMost {
  readonly kind: 'atMost';
  readonly name: string;
  readonly transitions: readonly string[];
  readonly max: number;
  readonly per: string | undefined;
}

/** At most `max` tokens are put in this place, or leave by this outlet; with `per`, between two tokens taken from there. */
export interface GivesAtMost {
  readonly kind: 'givesAtMost';
  readonly name: string;
  readonly place: string;
  readonly max: number;
  readonly per: string | undefined;
}

/** Once `place` has had a token, none of these transitions fires, until the event `until`. */
export interface NeverFiresAfter {
  readonly kind: 'neverFiresAfter';
  readonly name: string;
  readonly transitions: readonly string[];
  readonly place: string;
  readonly until: string | undefined;
}

/** For each token that leaves `from`, exactly one comes to `joined` or a dead letter; nothing is left between. */
export interface JoinedOrDeadLettered {
  readonly kind: 'joinedOrDeadLettered';
  readonly name: string;
  readonly from: string;
  readonly joined: string;
  readonly deadLetters: readonly string[];
  readonly through: readonly string[];
}

/** While a question is open the net neither rests, but where it may, nor goes round in a circle. */
export interface EventuallyAnswered {
  readonly kind: 'eventuallyAnswered';
  readonly name: string;
  readonly asked: string;
  readonly answered: readonly string[];
  /** Where a question may wait for something from outside. */
  readonly resting: readonly QuiescentMarking[];
}

/**
 * Nothing can happen without input from outside only where the net may rest. A string is a place that may hold tokens
 * at rest; all strings together are one resting marking that requires none.
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
 * These places never hold more than `max` tokens together.
 * @throws InvalidPropertyError when there is no place or `max` is no whole number from 0
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
 * No two of these places, of which there are at least two, hold tokens at the same time.
 * @throws InvalidPropertyError
 */
export function mutualExclusion(...places: readonly string[]): MutualExclusion {
  if (places.length < 2) throw new InvalidPropertyError('places', 'must be at least two');
  return { kind: 'mutualExclusion', name: `only one of ${places.join(', ')} is marked`, places };
}

/** A place alone means: at least one token there. */
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

/** `per` names a place: at most one firing between two tokens taken from it. An effect fires when it starts. */
export function atMostOnce(transition: string, options: { readonly per?: string } = {}): AtMost {
  return atMost([transition], 1, options);
}

/** At most one of several commits happens. */
export function atMostOneCommits(
  commits: readonly string[],
  options: { readonly per?: string } = {},
): AtMost {
  return atMost(commits, 1, options);
}

/**
 * These transitions together fire at most `max` times; with `per`, between two tokens taken from that place. An
 * effect fires when it starts.
 * @throws InvalidPropertyError when there is no transition or `max` is no whole number from 0
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

/** A turn asks at most `budget` times again: `ask` fires at most once more than that per token of `per`. */
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

/** A turn gives at most `max` tokens to `place`, which may be an outlet. */
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
 * None of these transitions fires, or starts, once `place` has had a token, until the event `until`; for ever unless
 * that is given.
 * @throws InvalidPropertyError when there is no transition
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

/** No effect of the net starts once `place` has had a token, until the event `until`. */
export function noFireAfterEndInvocation(
  effects: readonly string[],
  place: string,
  options: { readonly until?: string } = {},
): NeverFiresAfter {
  return neverFiresAfter(effects, place, options);
}

/**
 * For each token taken (or dropped) from `from`, exactly one comes to `joined` or to one of `deadLetters`, and where the
 * net can go no further none of `through` holds a token. A transition that fails is a dead letter only when `net.fault`
 * is named as one.
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
 * Each event `asked` is followed by one of `answered`: while one is missing, the net neither goes in circles nor rests,
 * but in markings where it waits for something from outside.
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
  throw new InvalidPropertyError(field, `must be a whole number from 0; it is ${value}`);
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
