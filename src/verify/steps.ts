import { Alphabet, BROKEN } from './alphabet.ts';
import { choicesOf } from './binding-choices.ts';
import type { Choice, Ordering } from './binding-choices.ts';
import { MOST_SUCCESSORS, UNLIMITED } from './bounds.ts';
import type { ExpandedNet, ExpandedTransition } from './expand.ts';
import type { Move, MoveKind, Variant } from './move.ts';
import { canonical } from './naming.ts';
import { DRAINING, SETTLING, View } from './state.ts';
import type { State } from './state.ts';
import { Variants } from './variants.ts';
import { SearchLimitError } from './verify-errors.ts';

const NOTHING: readonly number[] = [];

/** A state and what may happen in it. */
export interface Outlook {
  readonly state: State;
  readonly view: View;
  readonly moves: readonly Move[];
  /** Nothing without a clock can fire. */
  readonly isQuiet: boolean;
  /** Nothing can happen any more unless something comes from outside. */
  readonly isStuck: boolean;
}

/**
 * The steps of an expanded net, as the executor takes them: what is ready fires by priority until nothing is; then come
 * inputs and ends of effects, one or several before the next settling; then what waits for its time. Ordered, it keeps
 * the ages of tokens and follows the executor exactly; unordered, it takes every order among equals and so sees more,
 * never less.
 */
export class Steps {
  readonly net: ExpandedNet;
  readonly ordering: Ordering;
  readonly alphabet: Alphabet;
  readonly #view: View;
  readonly #variants: Variants;

  constructor(
    net: ExpandedNet,
    ordering: Ordering,
    countedOutlets: ReadonlySet<string> = new Set(),
    alphabet: Alphabet = new Alphabet(),
  ) {
    this.net = net;
    this.ordering = ordering;
    this.alphabet = alphabet;
    this.#view = new View(net.places.length, net.keys.domains);
    this.#variants = new Variants(countedOutlets, net.bounds.together, ordering === 'ordered');
  }

  /** The marking a session begins with. */
  initial(): State {
    const { net } = this;
    const names = net.keys.domainsOf;
    const known: Map<string, number>[] = Array.from({ length: net.keys.domains }, () => new Map());
    const tokens = net.net.initial.flatMap(({ place, value, times }) => {
      const index = net.placeIndex.get(place.name);
      if (index === undefined) return [];
      const domains = names(place.name);
      const own = net.keys.functionsOf(place.name).map((keyOf, slot) => {
        const inDomain = known[domains[slot] ?? 0] ?? new Map<string, number>();
        try {
          const key = keyOf(value);
          const name = inDomain.get(key) ?? inDomain.size;
          inDomain.set(key, name);
          return name;
        } catch {
          return BROKEN;
        }
      });
      const code = this.alphabet.code({ place: index, stage: 0, held: NOTHING, names: own });
      return Array.from({ length: times }, () => code);
    });
    return canonical(
      {
        phase: 0,
        faults: net.faults,
        environment: net.environment.map((place) => place.tokens),
        tokens,
      },
      this,
    );
  }

  /** All that may happen in a state. The view is reused: read it before the next call. */
  look(state: State): Outlook {
    const { net } = this;
    const view = this.#view;
    view.read(state, this.alphabet, net.places);
    const moves: Move[] = [];
    this.#ready(state, view, moves);
    const isQuiet = moves.length === 0;
    const draining = (state.phase & DRAINING) !== 0;
    let isStuck = false;
    if (isQuiet || (state.phase & SETTLING) === 0) {
      const phase = state.phase & DRAINING;
      this.#arrivals(state, view, phase, moves);
      if (isQuiet) {
        const waits = this.#due(state, view, phase, moves);
        isStuck = !draining && view.firings === 0 && !waits;
        if (draining) moves.push(step('owned', { phase: 0 }));
      }
      if (!draining && net.bounds.shutdowns) moves.push(step('draining', { phase: DRAINING }));
    }
    return { state, view, moves, isQuiet, isStuck };
  }

  /** The state after a move, in its one written form. */
  after(state: State, move: Move): State {
    return canonical(this.rawAfter(state, move), this);
  }

  /** The state after a move, with the names as they were. */
  rawAfter(state: State, move: Move): State {
    const { removed, added, environment } = move;
    let { tokens } = state;
    if (removed.length > 0) {
      const out = new Set(removed);
      tokens = tokens.filter((_, position) => !out.has(position));
    }
    if (added.length > 0) {
      // A firing that only changes its stage keeps its age.
      const [position] = removed;
      const [letter] = added;
      if (move.kind === 'retrying' || move.kind === 'restarted')
        tokens = state.tokens.map((code, at) => (at === position ? (letter ?? code) : code));
      else tokens = [...tokens, ...added];
    }
    return {
      phase: move.phase,
      faults: state.faults === UNLIMITED ? UNLIMITED : state.faults - move.faults,
      environment:
        environment < 0
          ? state.environment
          : state.environment.map((left, index) => (index === environment ? left - 1 : left)),
      tokens,
    };
  }

  /** What fires without a clock: the highest priority that has something to fire. */
  #ready(state: State, view: View, moves: Move[]): void {
    const draining = (state.phase & DRAINING) !== 0;
    for (const group of this.net.byPriority) {
      const able = draining ? group.filter((t) => t.kind === 'pure') : group;
      this.#fireFirst(able, false, state, view, moves);
      if (moves.length > 0) return;
    }
    // A key function that throws is not asked about time: its fault is due at once.
    for (const group of this.net.timedByPriority) {
      this.#fireFirst(group, true, state, view, moves);
      if (moves.length > 0) return;
    }
  }

  /** Among equals: with ages the one whose oldest token waited longest, without them any. */
  #fireFirst(
    group: readonly ExpandedTransition[],
    onlyBroken: boolean,
    state: State,
    view: View,
    moves: Move[],
  ): void {
    let first: readonly [ExpandedTransition, Choice] | undefined;
    let oldest = Number.POSITIVE_INFINITY;
    for (const t of group) {
      if (onlyBroken && !t.keyed) continue;
      for (const choice of choicesOf(t, state, view, this.alphabet, this.ordering)) {
        if (onlyBroken && !choice.broken) continue;
        if (this.ordering === 'unordered') this.#fire(t, choice, state, view, moves);
        else if (first === undefined || oldestOf(choice) < oldest) {
          first = [t, choice];
          oldest = oldestOf(choice);
        }
      }
    }
    if (first !== undefined) this.#fire(...first, state, view, moves);
  }

  /** What waits for its time. True when something surely will fire by itself. */
  #due(state: State, view: View, phase: number, moves: Move[]): boolean {
    let surely = false;
    for (const t of this.net.timed) {
      const before = moves.length;
      for (const choice of choicesOf(t, state, view, this.alphabet, this.ordering))
        if (!choice.broken) this.#fire(t, choice, state, view, moves);
      if (moves.length > before && t.timed === 'finite') surely = true;
    }
    if ((phase & DRAINING) === 0) {
      this.#eachFiring(view, state, (position, t, stage) => {
        if (stage % 2 === 0) return;
        const added = [this.alphabet.at(state.tokens[position] ?? 0, stage + 1)];
        const removed = [position];
        moves.push(step('restarted', { t: t.index, removed, added, phase, about: removed }));
      });
    }
    return surely;
  }

  /** Ends of effects and inputs from outside. */
  #arrivals(state: State, view: View, phase: number, moves: Move[]): void {
    this.#eachFiring(view, state, (position, t, stage) => {
      if (stage % 2 === 1) return;
      const code = state.tokens[position] ?? 0;
      const removed = [position];
      const about = removed;
      const facts = { t: t.index, removed, phase, about } as const;
      for (const variant of this.#variants.of(t, this.#held(t, code)))
        this.#deposit('ended', variant, facts, state, view, moves);
      if (stage / 2 + 1 < t.attempts)
        moves.push(step('retrying', { ...facts, added: [this.alphabet.at(code, stage + 1)] }));
      if (state.faults > 0) this.#fault(facts, state, moves, 1);
    });
    this.net.environment.forEach(({ place }, environment) => {
      if ((state.environment[environment] ?? 0) === 0) return;
      const variant = { alternative: '', deposits: [place], outlets: [], counts: {} };
      this.#deposit('injected', variant, { phase, environment }, state, view, moves);
    });
  }

  #eachFiring(
    view: View,
    state: State,
    each: (position: number, t: ExpandedTransition, stage: number) => void,
  ): void {
    if (view.firings === 0) return;
    for (const t of this.net.transitions) {
      if (t.running < 0) continue;
      let last = -1;
      for (const position of view.at[t.running] ?? []) {
        const code = state.tokens[position] ?? 0;
        if (this.ordering === 'unordered' && code === last) continue;
        last = code;
        each(position, t, this.alphabet.letter(code).stage);
      }
    }
  }

  /** By input: how many tokens this firing took. */
  #held(t: ExpandedTransition, code: number): readonly number[] {
    const { held } = this.alphabet.letter(code);
    return t.takes.map(({ count }, input) => {
      const remembered = t.remembered.indexOf(input);
      return remembered < 0 ? count : (held[remembered] ?? 0);
    });
  }

  #fire(t: ExpandedTransition, choice: Choice, state: State, view: View, moves: Move[]): void {
    const { takes, broken } = choice;
    const taken = takes.length === 1 ? (takes[0] ?? NOTHING) : takes.flat();
    const phase = (state.phase & DRAINING) | SETTLING;
    const about = t.timed === 'no' ? NOTHING : (takes[0] ?? NOTHING);
    const facts = { t: t.index, removed: taken, phase, about } as const;
    if (broken) {
      this.#fault(facts, state, moves, 0);
      return;
    }
    const removed =
      t.resets.length === 0
        ? taken
        : [...taken, ...t.resets.flatMap((place) => view.at[place] ?? [])];
    const counts = takes.map((tokens) => tokens.length);
    if (t.kind === 'effect') {
      const variant = { alternative: '', deposits: [t.running], outlets: [], counts: {} };
      const held = t.remembered.map((input) => counts[input] ?? 0);
      this.#deposit('started', variant, { ...facts, removed }, state, view, moves, held);
    } else {
      for (const variant of this.#variants.of(t, counts))
        this.#deposit('fired', variant, { ...facts, removed }, state, view, moves);
    }
    if (state.faults > 0) this.#fault(facts, state, moves, 1);
  }

  #fault(
    facts: Pick<Move, 't' | 'removed' | 'phase' | 'about'>,
    state: State,
    moves: Move[],
    faults: number,
  ): void {
    const { fault, unhandledFault } = this.net;
    const holdsFault = facts.removed.some((position) =>
      this.#holdsFault(state.tokens[position] ?? 0),
    );
    const place = holdsFault ? unhandledFault : fault;
    const variant = { alternative: '', deposits: [place], outlets: [], counts: {} };
    this.#deposit('faulted', variant, { ...facts, faults }, state, this.#view, moves);
  }

  /** True for a fault, and for a firing that took one. */
  #holdsFault(code: number): boolean {
    const { place, held } = this.alphabet.letter(code);
    if (place === this.net.fault) return true;
    const effect = this.net.places[place]?.effect ?? -1;
    const t = this.net.transitions[effect];
    if (t === undefined) return false;
    const input = t.takes.findIndex((take) => take.place === this.net.fault);
    if (input < 0) return false;
    const remembered = t.remembered.indexOf(input);
    return remembered < 0 || (held[remembered] ?? 0) > 0;
  }

  /** One move for each way to name the keys of what is deposited. */
  #deposit(
    kind: MoveKind,
    variant: Variant,
    facts: Partial<Move>,
    state: State,
    view: View,
    moves: Move[],
    held: readonly number[] = NOTHING,
  ): void {
    const { deposits } = variant;
    let choices: Naming[] = [{ added: [], next: view.names, broken: 0 }];
    for (const place of deposits) {
      const domains = this.net.places[place]?.domains ?? NOTHING;
      if (domains.length === 0 && held.length === 0) {
        const code = this.alphabet.plain(place);
        for (const choice of choices) choice.added.push(code);
      } else {
        if (choices.length > MOST_SUCCESSORS) throw tooWide();
        choices = choices.flatMap((choice) => this.#name(choice, place, domains, state, held));
      }
    }
    const given = kind === 'fired' || kind === 'ended' ? variant : undefined;
    if (moves.length + choices.length > MOST_SUCCESSORS) throw tooWide();
    for (const { added, broken } of choices) {
      const faults = (facts.faults ?? 0) + broken;
      if (state.faults < faults) continue;
      moves.push(step(kind, { ...facts, added, variant: given, faults }));
    }
  }

  /** Every way to give a new token its keys: one in use, a fresh one, or a function that throws. */
  #name(
    choice: Naming,
    place: number,
    domains: readonly number[],
    state: State,
    held: readonly number[],
  ): Naming[] {
    let ways: { names: number[]; next: readonly number[]; broken: number }[] = [
      { names: [], next: choice.next, broken: choice.broken },
    ];
    for (const domain of domains) {
      ways = ways.flatMap(({ names, next, broken }) => {
        const inUse = next[domain] ?? 0;
        const more = [];
        for (let name = 0; name <= inUse; name++) {
          const after =
            name < inUse ? next : next.map((used, at) => (at === domain ? used + 1 : used));
          more.push({ names: [...names, name], next: after, broken });
        }
        if (state.faults > broken)
          more.push({ names: [...names, BROKEN], next, broken: broken + 1 });
        return more;
      });
    }
    return ways.map(({ names, next, broken }) => ({
      added: [...choice.added, this.alphabet.code({ place, stage: 0, held, names })],
      next,
      broken,
    }));
  }
}

function tooWide(): SearchLimitError {
  return new SearchLimitError(`more than ${MOST_SUCCESSORS} ways to go on from one state`);
}

interface Naming {
  readonly added: number[];
  readonly next: readonly number[];
  readonly broken: number;
}

/** How the executor ranks what is enabled: by the oldest of the first tokens of its inputs. */
function oldestOf({ takes }: Choice): number {
  let oldest = Number.POSITIVE_INFINITY;
  for (const [first] of takes) if (first !== undefined) oldest = Math.min(oldest, first);
  return oldest;
}

function step(kind: MoveKind, facts: Partial<Move>): Move {
  return {
    kind,
    t: facts.t ?? -1,
    removed: facts.removed ?? NOTHING,
    added: facts.added ?? NOTHING,
    variant: facts.variant,
    phase: facts.phase ?? 0,
    faults: facts.faults ?? 0,
    environment: facts.environment ?? -1,
    about: facts.about ?? NOTHING,
  };
}
