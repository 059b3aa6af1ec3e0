import { MAX_FIRINGS_PER_SETTLE, MAX_FIRINGS_PER_TOKEN } from '../net/internal.ts';
import { boundPlace } from './bound-place.ts';
import { findLiveParts } from './contracts/live-parts.ts';
import { UNLIMITED } from './properties/bounds.ts';
import type {
  ExpandedAlternative,
  ExpandedNet,
  ExpandedOutput,
  ExpandedTransition,
} from './system/expand.ts';

/** The most firings of one settling, judged by the arcs alone. */
export interface SettlingBound {
  /** The firings for which no token pays. */
  readonly fixed: number;
  /** The firings for each token and each firing in flight with which the settling begins. */
  readonly perToken: number;
}

/** True if a settling with this bound ends before the executor refuses a firing. */
export function isBelowLimit(bound: SettlingBound | undefined): boolean {
  return (
    bound !== undefined &&
    bound.fixed <= MAX_FIRINGS_PER_SETTLE &&
    bound.perToken <= MAX_FIRINGS_PER_TOKEN
  );
}

/**
 * Bounds the firings of one settling by the arcs. Undefined if the arcs show no bound.
 *
 * Each firing is charged to the token that limits it, and this token also pays for the firings that its outputs cause.
 * A clock that is due, and an attempt that times out, are charged to the token or the firing with which the settling
 * begins: what a settling adds is not due in it.
 */
export function boundSettling(net: ExpandedNet): SettlingBound | undefined {
  const live = findLiveParts(net);
  const transitions = net.transitions.filter(({ index }) => live.transitions.has(index));
  // A delay ends the settling.
  const limits = findLimits(
    net,
    transitions.filter(({ isImmediate }) => isImmediate).flatMap((t) => listChoices(t)),
  );
  return limits === undefined ? undefined : new Charges(net, transitions, limits).bound();
}

/** A transition with one of the alternatives that its firing may choose. The outputs of an effect arrive later. */
interface Choice {
  readonly t: ExpandedTransition;
  readonly alternative: ExpandedAlternative | undefined;
}

/** A choice and what limits it: a place from which it takes, or a place that inhibits it. */
interface Limited extends Choice {
  readonly place: number;
  readonly by: 'input' | 'inhibitor';
}

function listChoices(t: ExpandedTransition): readonly Choice[] {
  if (t.kind === 'effect' || t.alternatives.length === 0) return [{ t, alternative: undefined }];
  return t.alternatives.map((alternative) => ({ t, alternative }));
}

/** Finds a limit of each choice. Undefined if some have none. */
function findLimits(net: ExpandedNet, choices: readonly Choice[]): readonly Limited[] | undefined {
  const limits: Limited[] = [];
  let open = choices;
  while (open.length > 0) {
    const endless = open;
    const round = endless.flatMap((choice) => findLimit(choice, endless, net) ?? []);
    if (round.length === 0) return undefined;
    limits.push(...round);
    open = endless.filter((choice) =>
      round.every(({ t, alternative }) => t !== choice.t || alternative !== choice.alternative),
    );
  }
  // What a firing causes is limited in a later round, so later limits are charged first.
  return limits.toReversed();
}

/**
 * A place from which the choice takes more tokens than it gives back, and to which only limited choices add tokens; or
 * one that the transition fills and only limited ones empty.
 */
function findLimit(
  choice: Choice,
  open: readonly Choice[],
  { fault, unhandledFault, faults }: ExpandedNet,
): Limited | undefined {
  const { t } = choice;
  const input = t.takes.find(
    ({ place }) =>
      countMore(choice, place) < 0 &&
      !(faults === UNLIMITED && (place === fault || place === unhandledFault)) &&
      !open.some((other) => mayAdd(other, place)),
  );
  if (input !== undefined) return { ...choice, place: input.place, by: 'input' };
  // A firing that fails does not fill the place that inhibits it.
  if (faults === UNLIMITED) return undefined;
  const place = t.unless.find(
    (one) =>
      alwaysFills(t, one) &&
      !t.resets.includes(one) &&
      !open.some((other) => empties(other.t, one)),
  );
  return place === undefined ? undefined : { ...choice, place, by: 'inhibitor' };
}

/** True if a firing may leave more tokens in a place than it finds there, before the net settles. */
function mayAdd(choice: Choice, place: number): boolean {
  const { t, alternative } = choice;
  if (t.kind === 'effect') return t.running === place;
  const isGivenOn = alternative?.outputs.some(
    (output) => output.place === place && t.takes[output.each]?.mode === 'all',
  );
  return isGivenOn === true || countMore(choice, place) > 0;
}

/** The most tokens that a firing adds to a place beyond those that it takes there for certain. */
function countMore(choice: Choice, place: number): number {
  const taken = choice.t.takes.reduce(
    (sum, input) => sum + (input.place === place ? input.count : 0),
    0,
  );
  return countAdded(choice, place) - taken;
}

/** The most tokens that a firing adds to a place, apart from outputs that are as many as an input takes. */
function countAdded({ t, alternative }: Choice, place: number): number {
  if (t.kind === 'effect') return t.running === place ? 1 : 0;
  const outputs = alternative?.outputs.filter((output) => output.place === place) ?? [];
  return outputs.reduce((sum, output) => sum + countGiven(t, output), 0);
}

function alwaysFills(t: ExpandedTransition, place: number): boolean {
  if (t.kind === 'effect') return t.running === place;
  return t.alternatives.every(({ outputs }) =>
    outputs.some((output) => output.place === place && output.min > 0),
  );
}

function empties({ takes, resets }: ExpandedTransition, place: number): boolean {
  return resets.includes(place) || takes.some((input) => input.place === place);
}

/** A charge above this does not stop growing, or is far above the limit. */
const MOST_CHARGED: number = MAX_FIRINGS_PER_SETTLE * MAX_FIRINGS_PER_TOKEN;

/** The charges of the tokens: the least ones that pay for all firings. */
class Charges {
  readonly #net: ExpandedNet;
  readonly #transitions: readonly ExpandedTransition[];
  readonly #limits: readonly Limited[];
  /** By place: the firings for which a token pays that the settling adds there. */
  readonly #tokens: number[];
  /** By limit that is an inhibitor: the firings for which each step that empties the place pays. */
  readonly #enabled = new Map<Limited, number>();
  readonly #bounds = new Map<number, number | undefined>();
  #isStable = false;

  constructor(
    net: ExpandedNet,
    transitions: readonly ExpandedTransition[],
    limits: readonly Limited[],
  ) {
    this.#net = net;
    this.#transitions = transitions;
    this.#limits = limits;
    this.#tokens = net.places.map(() => 0);
  }

  bound(): SettlingBound | undefined {
    // Charges that are still not stable after a round for each of them pay for each other, and grow without end.
    const charges = this.#tokens.length + this.#limits.length;
    for (let round = 0; !this.#isStable; round++) {
      if (round > charges) return undefined;
      this.#isStable = true;
      for (const limited of this.#limits) this.#charge(limited);
      for (const t of this.#transitions) this.#chargeInputs(t);
      if (Math.max(0, ...this.#tokens, ...this.#enabled.values()) > MOST_CHARGED) return undefined;
    }
    const { faults, keys, net } = this.#net;
    // The key functions of the first tokens may throw too, and no limit on faults counts them.
    const first = net.initial.reduce(
      (sum, { place, times }) => sum + (keys.getDomains(place.name).length > 0 ? times : 0),
      0,
    );
    const failures = faults === UNLIMITED ? 0 : faults + first;
    const enabled = [...this.#enabled.values()].reduce((sum, firings) => sum + firings, 0);
    return {
      fixed: enabled * (1 + failures) + failures * this.#fault(),
      perToken: Math.max(0, ...this.#tokens, ...this.#transitions.map((t) => this.#due(t))),
    };
  }

  /** Charges the firings of a transition to what limits it. */
  #charge(limited: Limited): void {
    const { t, place, by } = limited;
    const firings = this.#firing(t, this.#caused(limited));
    if (by === 'inhibitor') {
      if (firings === this.#enabled.get(limited)) return;
      this.#enabled.set(limited, firings);
      this.#isStable = false;
    } else {
      const input = t.takes.findIndex((one) => one.place === place);
      this.#raise(place, firings + this.#each(t, input));
    }
  }

  /**
   * The firings that the outputs of a choice cause. A token that the firing takes pays for one that it gives back to the
   * same place, unless it already pays for one that is given on.
   */
  #caused(choice: Choice): number {
    const { t } = choice;
    const places = new Set(choice.alternative?.outputs.map(({ place }) => place));
    const given = [...places].reduce((sum, place) => {
      const returned = t.takes.reduce(
        (all, input, index) =>
          all + (input.place === place && !this.#isGivenOn(t, index) ? input.count : 0),
        0,
      );
      const more = Math.max(0, countAdded(choice, place) - returned);
      return sum + (more === 0 ? 0 : more * this.#token(place));
    }, 0);
    return Math.max(this.#failing(), given + this.#bounded(t));
  }

  /** Charges what each taken token causes, whoever pays for the firing. */
  #chargeInputs(t: ExpandedTransition): void {
    t.takes.forEach(({ place, slot }, input) => {
      if (t.kind === 'pure') this.#raise(place, this.#each(t, input));
      // If a key function throws, the fault takes only this token, and waits for no delay.
      if (slot < 0) return;
      const fault = this.#net.faults === UNLIMITED ? this.#fault() : 0;
      this.#raise(place, 1 + this.#emptied([place]) + fault);
    });
  }

  #raise(place: number, firings: number): void {
    if (firings <= (this.#tokens[place] ?? 0)) return;
    this.#tokens[place] = firings;
    this.#isStable = false;
  }

  /** The firings for which a firing pays: itself, and what its outputs and the places that it empties cause. */
  #firing(t: ExpandedTransition, caused: number): number {
    const emptied = this.#emptied([...t.resets, ...t.takes.map(({ place }) => place)]);
    return 1 + emptied + (t.kind === 'effect' ? this.#token(t.running) : caused);
  }

  /** The firings that an outcome causes, apart from outputs that are as many as an input takes. */
  #outputs(t: ExpandedTransition): number {
    const given = t.alternatives.map(({ outputs }) =>
      outputs.reduce((sum, output) => sum + countGiven(t, output) * this.#token(output.place), 0),
    );
    return Math.max(this.#failing(), Math.max(0, ...given) + this.#bounded(t));
  }

  /** The firings that a failure of the transition itself causes, if any number of them may fail. */
  #failing(): number {
    return this.#net.faults === UNLIMITED ? this.#fault() : 0;
  }

  /** The firings that follow from tokens that are given on, if the arcs bound their number. */
  #bounded(t: ExpandedTransition): number {
    return t.takes.reduce(
      (sum, _, input) => sum + (this.#bound(t, input) ?? 0) * this.#givenOn(t, input),
      0,
    );
  }

  /** The firings for which each token of an input pays, because as many tokens are given on. */
  #each(t: ExpandedTransition, input: number): number {
    return this.#bound(t, input) === undefined ? this.#givenOn(t, input) : 0;
  }

  /** The most tokens that an input may take, if the arcs show it. The firing then pays for those that are given on. */
  #bound(t: ExpandedTransition, input: number): number | undefined {
    const place = t.takes[input]?.place ?? -1;
    if (this.#givenOn(t, input) === 0) return undefined;
    if (!this.#bounds.has(place))
      this.#bounds.set(place, boundPlace(this.#net, this.#transitions, place));
    return this.#bounds.get(place);
  }

  /** True if some outputs are as many as this input takes. */
  #isGivenOn({ takes, alternatives }: ExpandedTransition, input: number): boolean {
    return (
      takes[input]?.mode === 'all' &&
      alternatives.some(({ outputs }) => outputs.some(({ each }) => each === input))
    );
  }

  /** The firings that one token of an input causes, because one is given on for it. */
  #givenOn(t: ExpandedTransition, input: number): number {
    if (t.takes[input]?.mode !== 'all') return 0;
    const given = t.alternatives.map(({ outputs }) =>
      outputs.reduce((sum, { each, place }) => sum + (each === input ? this.#token(place) : 0), 0),
    );
    return Math.max(0, ...given);
  }

  /** The firings that follow if a clock or an attempt of a transition is due when the settling begins. */
  #due(t: ExpandedTransition): number {
    const isTimed = t.timed === 'finite' || t.timed === 'maybe';
    const clock = isTimed ? this.#firing(t, this.#outputs(t)) + this.#each(t, 0) : 0;
    if (t.kind === 'pure') return clock;
    // How many tokens a firing holds, the arcs do not show.
    if (t.takes.some((_, input) => this.#each(t, input) > 0)) return Number.POSITIVE_INFINITY;
    // An attempt times out, and the next one begins, which another transition may take.
    const ended = this.#emptied([t.running]) + this.#outputs(t);
    return Math.max(clock, 2 + Math.max(ended, this.#token(t.running)));
  }

  #emptied(places: readonly number[]): number {
    let firings = 0;
    for (const [{ place }, enabled] of this.#enabled)
      if (places.includes(place)) firings += enabled;
    return firings;
  }

  #fault(): number {
    const { fault, unhandledFault } = this.#net;
    return Math.max(this.#token(fault), this.#token(unhandledFault));
  }

  #token(place: number): number {
    return this.#tokens[place] ?? 0;
  }
}

/** Returns how many tokens a firing adds to an output, if this number does not depend on the tokens of an `all` input. */
function countGiven({ takes }: ExpandedTransition, { max, each }: ExpandedOutput): number {
  if (each < 0) return max;
  const input = takes[each];
  return input === undefined || input.mode === 'all' ? 0 : input.count;
}
