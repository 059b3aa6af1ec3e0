import { omitUndefined } from '../../core/internal.ts';
import { listNames } from './name-list.ts';
import type { NameOrNames } from './name-list.ts';
import { InvalidPropertyError } from './verify-errors.ts';
import type {
  AtMost,
  Bounded,
  CanFire,
  DeadlockFree,
  Eventually,
  EventuallyAnswered,
  GivesAtMost,
  Isolated,
  JoinedOrDeadLettered,
  JoinsComplete,
  MutualExclusion,
  NeverFiresAfter,
  NeverStale,
  NeverTakes,
  NoStaleCommits,
  PlaceBound,
  Precedes,
  QuiescentMarking,
  Settles,
  Unreachable,
} from './property.ts';

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
 * These places together never hold more than `max` tokens. With `each: true`, none of them does.
 * @throws InvalidPropertyError if `places` is empty, or if `max` is not an integer of at least 0.
 */
export function placeBound(
  places: string | readonly string[],
  max: number,
  { each = false }: { readonly each?: boolean } = {},
): PlaceBound {
  const list = toNonEmptyList('places', places);
  return {
    kind: 'placeBound',
    name: `at most ${natural('max', max)} in ${each ? `each of ${list.join(', ')}` : list.join(' + ')}`,
    places: list,
    max,
    ...omitUndefined({ each: each ? (true as const) : undefined }),
  };
}

/**
 * No two of these places hold tokens at the same time.
 * @throws InvalidPropertyError if there are fewer than two different places.
 */
export function mutualExclusion(...places: readonly string[]): MutualExclusion {
  if (new Set(places).size < 2)
    throw new InvalidPropertyError('places', 'must be at least two different places');
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
export function atMostOnce(
  transition: string,
  options: { readonly per?: NameOrNames } = {},
): AtMost {
  return atMost([transition], 1, options);
}

/** At most one of several transitions fires. With `per`, the count restarts at each token taken from that place. */
export function atMostOneCommits(
  commits: readonly string[],
  options: { readonly per?: NameOrNames } = {},
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
  { per }: { readonly per?: NameOrNames } = {},
): AtMost {
  const list = toNonEmptyList('transitions', transitions);
  const each = showRenewal(per);
  return {
    kind: 'atMost',
    name: `${list.join(' or ')} at most ${times(natural('max', max))}${each}`,
    transitions: list,
    max,
    per: toOneOrMore('per', per),
  };
}

/**
 * The re-ask budget is kept: for each token taken from `per`, `ask` fires at most `budget` + 1 times.
 * @throws InvalidPropertyError if `budget` is not an integer of at least 0.
 */
export function reaskBudgetIsBounded(options: {
  readonly ask: string;
  readonly budget: number;
  readonly per: NameOrNames;
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
  { per }: { readonly per?: NameOrNames } = {},
): GivesAtMost {
  const each = showRenewal(per);
  return {
    kind: 'givesAtMost',
    name: `at most ${natural('max', max)} into ${place}${each}`,
    place,
    max,
    per: toOneOrMore('per', per),
  };
}

/**
 * After the event `place`, none of these transitions fires or starts until the event `until`. An event is a place that
 * receives a token, or a transition that fires or starts. Default of `until`: no end.
 * @throws InvalidPropertyError if `transitions` is empty.
 */
export function neverFiresAfter(
  transitions: string | readonly string[],
  place: string,
  { until }: { readonly until?: NameOrNames } = {},
): NeverFiresAfter {
  const list = toNonEmptyList('transitions', transitions);
  const end = [...new Set(listNames(until))].join(' or ');
  return {
    kind: 'neverFiresAfter',
    name: `${list.join(', ')} never after ${place}${end === '' ? '' : ` until ${end}`}`,
    transitions: list,
    place,
    until: toOneOrMore('until', until),
  };
}

/**
 * After `place` received a token, none of these effects starts until the event `until`.
 * @throws InvalidPropertyError if `effects` is empty.
 */
export function noFireAfterEndInvocation(
  effects: readonly string[],
  place: string,
  options: { readonly until?: NameOrNames } = {},
): NeverFiresAfter {
  return neverFiresAfter(effects, place, options);
}

/**
 * After an interrupt, none of these transitions starts a tool until the event `until`, such as the permit for the next
 * turn. `interrupt` is a transition or a place.
 * @throws InvalidPropertyError if `tools` is empty.
 */
export function noToolAfterInterrupt(
  tools: string | readonly string[],
  interrupt: string,
  options: { readonly until?: NameOrNames } = {},
): NeverFiresAfter {
  return neverFiresAfter(tools, interrupt, options);
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

/**
 * None of these transitions fires before the event `first`, which is a transition or a place. With `each: true`,
 * every firing needs an event of its own. With `per`, everything starts again at each token taken from that place.
 * @throws InvalidPropertyError if `transitions` is empty.
 */
export function precedes(
  first: string,
  transitions: string | readonly string[],
  { each = false, per }: { readonly each?: boolean; readonly per?: NameOrNames } = {},
): Precedes {
  const list = toNonEmptyList('transitions', transitions);
  const every = showRenewal(per);
  return {
    kind: 'precedes',
    name: `${list.join(', ')} never before ${each ? 'its ' : ''}${first}${every}`,
    first,
    transitions: list,
    each,
    per: toOneOrMore('per', per),
  };
}

/**
 * The firings of these transitions together cost at most `max`. The keys of `costs` are transitions, its values what one
 * firing costs. With `per`, the sum restarts at each token taken from that place.
 * @throws InvalidPropertyError if `costs` is empty, or if a cost or `max` is not an integer of at least 0.
 */
export function costAtMost(
  costs: Readonly<Record<string, number>>,
  max: number,
  { per }: { readonly per?: NameOrNames } = {},
): AtMost {
  const transitions = toNonEmptyList('costs', Object.keys(costs));
  const each = showRenewal(per);
  const sum = Object.entries(costs).map(
    ([t, cost]) => `${natural(`costs["${t}"]`, cost)} for each ${t}`,
  );
  return {
    kind: 'atMost',
    name: `cost at most ${natural('max', max)}${each}: ${sum.join(', ')}`,
    transitions,
    max,
    per: toOneOrMore('per', per),
    costs,
  };
}

/**
 * After the event `after`, one of `events` happens, provided that each step which stays possible happens at some time.
 * Default of `after`: the start of the net. Faults, inputs from outside and clocks that may never expire are not counted
 * on. A net that waits for input from outside may do so in a marking of `resting`.
 * @throws InvalidPropertyError if `events` is empty.
 */
export function eventually(
  events: string | readonly string[],
  {
    after,
    resting = [],
  }: { readonly after?: string; readonly resting?: readonly QuiescentMarking[] } = {},
): Eventually {
  const list = toNonEmptyList('events', events);
  return {
    kind: 'eventually',
    name: `eventually ${list.join(' or ')}${after === undefined ? '' : ` after ${after}`}`,
    events: list,
    after,
    resting,
  };
}

/**
 * Each of these transitions fires in some order of events within the bounds, for some declared outcomes, which the code
 * may never choose. A refutation has no trace: it names the transitions that never fire.
 * @throws InvalidPropertyError if `transitions` is empty.
 */
export function canFire(...transitions: readonly string[]): CanFire {
  const list = toNonEmptyList('transitions', transitions);
  return { kind: 'canFire', name: `${list.join(', ')} can fire`, transitions: list };
}

/**
 * Each of these transitions, which begin the nodes of a workflow, fires in some order of events within the bounds. A
 * refutation has no trace: it names the nodes that never begin.
 * @throws InvalidPropertyError if `nodes` is empty.
 */
export function everyNodeReachable(...nodes: readonly string[]): CanFire {
  const list = toNonEmptyList('nodes', nodes);
  return { ...canFire(...list), name: `every node can be reached: ${list.join(', ')}` };
}

/**
 * No place of the net ever holds more than `max` tokens. Default: 10.
 * @throws InvalidPropertyError if `max` is not an integer of at least 0.
 */
export function bounded(max = 10): Bounded {
  return { kind: 'bounded', name: `at most ${natural('max', max)} in each place`, max };
}

/**
 * Nothing flows between two parts of a net, such as two agents, except through the places `through`. A part has the
 * places and transitions whose names start with its name and `/`.
 * @throws InvalidPropertyError if both names are equal.
 */
export function isolated(
  one: string,
  other: string,
  { through = [] }: { readonly through?: readonly string[] } = {},
): Isolated {
  if (one === other) throw new InvalidPropertyError('parts', `must be two; both are "${one}"`);
  const except = through.length === 0 ? '' : `, except through ${through.join(', ')}`;
  return {
    kind: 'isolated',
    name: `nothing flows between ${one} and ${other}${except}`,
    parts: [one, other],
    through,
  };
}

/**
 * None of the transitions `commits` fires with work that is older than the last firing of `renewals` that ended. `work` are the
 * places, and `running(t)`, that hold work between its begin and its commit.
 * @throws InvalidPropertyError if a list is empty.
 */
export function neverStale(
  commits: string | readonly string[],
  { renewals, work }: { readonly renewals: readonly string[]; readonly work: readonly string[] },
): NeverStale {
  const list = toNonEmptyList('commits', commits);
  return {
    kind: 'neverStale',
    name: `${list.join(', ')} never with work older than ${toNonEmptyList('renewals', renewals).join(' or ')}`,
    commits: list,
    renewals,
    work: toNonEmptyList('work', work),
  };
}

/**
 * No commit is older than the latest generation. A generation is a place with one token that transitions replace and
 * others read. A transition that reads it and can skip an output commits to that output; every transition that fills the
 * same output from the same work must read the generation, too.
 */
export function noStaleCommits(): NoStaleCommits {
  return { kind: 'noStaleCommits', name: 'no stale commit' };
}

/**
 * None of the transitions `by` ever fires with a token of `places`, neither by taking it nor by a reset.
 * @throws InvalidPropertyError if a list is empty.
 */
export function neverTakes(
  by: string | readonly string[],
  { from }: { readonly from: readonly string[] },
): NeverTakes {
  const list = toNonEmptyList('by', by);
  const places = toNonEmptyList('from', from);
  return {
    kind: 'neverTakes',
    name: `${list.join(', ')} never takes from ${places.join(', ')}`,
    by: list,
    places,
  };
}

/**
 * No join waits in vain: no transition of `ends` fires while a join has some of its inputs. Default of `ends`: the
 * transitions that take all tokens of such an input once nothing that leads to the join is left. An interrupt, which takes
 * them at any time, is none of these.
 */
export function joinsComplete(...ends: readonly string[]): JoinsComplete {
  const by = ends.length === 0 ? '' : ` before ${ends.join(', ')}`;
  return { kind: 'joinsComplete', name: `every join gets all its inputs${by}`, ends };
}

/**
 * Every settling ends: the net has no livelock. A livelock is a sequence of firings that repeats, or that adds tokens
 * without end, although no effect ends, no input arrives and no time passes. The executor refuses the firings after the
 * 10,000th of one settling.
 */
export function settles(): Settles {
  return { kind: 'settles', name: 'every settling ends' };
}

function toNonEmptyList(field: string, names: string | readonly string[]): readonly string[] {
  const list = typeof names === 'string' ? [names] : names;
  if (list.length === 0) throw new InvalidPropertyError(field, 'must not be empty');
  return list;
}

/** One name is no list, so a property with one name is the same however it is written. */
function toOneOrMore(field: string, names: NameOrNames | undefined): NameOrNames | undefined {
  if (names === undefined) return undefined;
  const list = [...new Set(toNonEmptyList(field, names))];
  return list.length === 1 ? list[0] : list;
}

function showRenewal(per: NameOrNames | undefined): string {
  const places = [...new Set(listNames(per))];
  return places.length === 0 ? '' : ` per token of ${places.join(' or ')}`;
}

function natural(field: string, value: number): number {
  if (Number.isInteger(value) && value >= 0) return value;
  throw new InvalidPropertyError(field, `must be an integer of at least 0; it is ${value}`);
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
