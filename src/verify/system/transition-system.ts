import { assignKeys } from './assign-keys.ts';
import type { KeyAssignment } from './assign-keys.ts';
import { TokenClasses, BROKEN_KEY } from './token-classes.ts';
import { NO_COLOR } from './labels.ts';
import type { OutputColors } from './labels.ts';
import { listChoices } from './binding-choices.ts';
import type { Choice, Ordering } from './binding-choices.ts';
import { parseTokenValue } from '../../net/internal.ts';
import { MAX_SUCCESSORS, UNLIMITED } from '../properties/bounds.ts';
import type { ExpandedNet, ExpandedTransition } from './expand.ts';
import { createMove } from './move.ts';
import type { Move, MoveKind, Variant } from './move.ts';
import { canonicalize } from './canonicalize.ts';
import { DRAINING, SETTLING, StateView } from './state.ts';
import type { State } from './state.ts';
import { Variants } from './variants.ts';
import { SearchLimitError } from '../properties/verify-errors.ts';

const NOTHING: readonly number[] = [];
const UNCOLORED: readonly number[] = [NO_COLOR];
const NOTHING_ARRIVES: readonly ExpandedTransition[] = [];

/** A state and its possible steps. */
export interface Successors {
  readonly state: State;
  readonly view: StateView;
  readonly moves: readonly Move[];
  /** True if no untimed transition can fire. */
  readonly isSettled: boolean;
  /** True if nothing can happen without input from outside. */
  readonly isStuck: boolean;
  /** The number of transitions, with their tokens, of which the executor fires one next. */
  readonly choices: number;
}

/**
 * The transition system of an expanded net. Its steps follow the executor: enabled transitions fire by priority until
 * none is enabled; then inputs and results of effects arrive, one or several before the next settling; then timers
 * expire. If ordered, states keep the ages of tokens and steps match the executor exactly. If unordered, every order
 * among equals is a step, so it has all behaviors of the executor and possibly more. If `refuses`, the executor may
 * refuse every firing of a settling, as it does after too many firings: a fault that no limit on faults counts.
 */
export class TransitionSystem {
  readonly net: ExpandedNet;
  readonly ordering: Ordering;
  readonly tokenClasses: TokenClasses;
  /** The outlets whose tokens are counted. */
  readonly countedOutlets: ReadonlySet<string>;
  readonly #view: StateView;
  readonly #variants: Variants;
  readonly #refuses: boolean;
  /** The number of choices of the state whose steps are listed. */
  #choices = 0;

  constructor(
    net: ExpandedNet,
    ordering: Ordering,
    countedOutlets: ReadonlySet<string> = new Set(),
    tokenClasses: TokenClasses = new TokenClasses(),
    { refuses = false }: { readonly refuses?: boolean } = {},
  ) {
    this.net = net;
    this.ordering = ordering;
    this.tokenClasses = tokenClasses;
    this.countedOutlets = countedOutlets;
    this.#refuses = refuses;
    this.#view = new StateView(net.places.length, net.keys.domains);
    this.#variants = new Variants(countedOutlets, net.bounds.together, ordering === 'ordered');
  }

  /** Returns the state of a new session. */
  initial(): State {
    const { net } = this;
    const names = net.keys.getDomains;
    const known: Map<string, number>[] = Array.from({ length: net.keys.domains }, () => new Map());
    const tokens = net.net.initial.flatMap(({ place, value, times }) => {
      const index = net.placeIndex.get(place.name);
      if (index === undefined) return [];
      const domains = names(place.name);
      const own = net.keys.getKeyFunctions(place.name).map((getKey, slot) => {
        const inDomain = known[domains[slot] ?? 0] ?? new Map<string, number>();
        try {
          // The executor parses the value before it deposits it, and a schema may change it.
          const key = getKey(parseTokenValue(place, value));
          const name = inDomain.get(key) ?? inDomain.size;
          inDomain.set(key, name);
          return name;
        } catch {
          return BROKEN_KEY;
        }
      });
      const code = this.tokenClasses.codeFor({
        place: index,
        attemptState: 0,
        inputCounts: NOTHING,
        names: own,
        color: net.tracked.toInitialColor(place, value),
      });
      return Array.from({ length: times }, () => code);
    });
    return canonicalize(
      {
        phase: 0,
        faults: net.faults,
        environment: net.environment.map((place) => place.tokens),
        tokens,
      },
      this,
    );
  }

  /** Lists the possible steps of a state. The returned view is reused, so read it before the next call. */
  successors(state: State): Successors {
    const { net } = this;
    const view = this.#view;
    view.read(state, this.tokenClasses, net.places);
    this.#choices = 0;
    const moves: Move[] = [];
    const isSettled = !this.#addReady(state, view, moves);
    const draining = (state.phase & DRAINING) !== 0;
    let isStuck = false;
    if (isSettled || (state.phase & SETTLING) === 0) {
      const phase = state.phase & DRAINING;
      this.#addArrivals(state, view, phase, moves);
      if (isSettled) {
        const waits = this.#addDue(state, view, phase, moves);
        isStuck = !draining && view.firings === 0 && !waits;
        if (draining) moves.push(createMove('owned', { phase: 0 }));
      }
      if (!draining && net.bounds.shutdowns)
        moves.push(createMove('draining', { phase: DRAINING }));
    }
    return { state, view, moves, isSettled, isStuck, choices: this.#choices };
  }

  /** Returns the canonical state after a move. */
  apply(state: State, move: Move): State {
    return canonicalize(this.applyRaw(state, move), this);
  }

  /** Returns the state after a move without renaming its keys. */
  applyRaw(state: State, move: Move): State {
    const { removed, added, environment } = move;
    let { tokens } = state;
    if (removed.length > 0) {
      const out = new Set(removed);
      tokens = tokens.filter((_, position) => !out.has(position));
    }
    if (added.length > 0) {
      // A firing that changes only its attempt state keeps its age, so it is replaced in place.
      const [position] = removed;
      const [after] = added;
      if (move.kind === 'retrying' || move.kind === 'restarted')
        tokens = state.tokens.map((code, at) => (at === position ? (after ?? code) : code));
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

  /**
   * Adds the firings of untimed transitions with the highest priority that can fire. Returns true if one of them must
   * fire before the net has settled.
   */
  #addReady(state: State, view: StateView, moves: Move[]): boolean {
    const draining = (state.phase & DRAINING) !== 0;
    for (const group of this.net.byPriority) {
      const able = draining ? group.filter((t) => t.kind === 'pure') : group;
      if (this.#addFirst(able, false, state, view, moves)) return true;
    }
    // If a key function of a timed transition throws, its fault is due at once.
    for (const group of this.net.timedByPriority) {
      if (this.#addFirst(group, true, state, view, moves)) return true;
    }
    return false;
  }

  /**
   * Of equal priority, adds only the transition with the oldest token if ordered, or all of them if unordered. Returns
   * true if one of them is not optional.
   */
  #addFirst(
    group: readonly ExpandedTransition[],
    onlyBroken: boolean,
    state: State,
    view: StateView,
    moves: Move[],
  ): boolean {
    let mustFire = false;
    let first: readonly [ExpandedTransition, Choice] | undefined;
    let oldest = Number.POSITIVE_INFINITY;
    for (const t of group) {
      if (onlyBroken && !t.keyed) continue;
      for (const choice of listChoices(t, state, view, this.tokenClasses, this.ordering)) {
        if (onlyBroken && !choice.broken) continue;
        if (t.isOptional !== true) mustFire = true;
        if (this.ordering === 'unordered') this.#addReadyFiring(t, choice, state, view, moves);
        else if (first === undefined || oldestPosition(choice) < oldest) {
          first = [t, choice];
          oldest = oldestPosition(choice);
        }
      }
    }
    if (first !== undefined) this.#addReadyFiring(...first, state, view, moves);
    return mustFire;
  }

  /** Adds expiring timers and due retries. Returns true if some timer is certain to fire. */
  #addDue(state: State, view: StateView, phase: number, moves: Move[]): boolean {
    let isCertain = false;
    for (const t of this.net.timed) {
      const before = moves.length;
      for (const choice of listChoices(t, state, view, this.tokenClasses, this.ordering))
        if (!choice.broken) this.#addFiring(t, choice, state, view, moves);
      if (moves.length > before && t.timed === 'finite' && t.isOptional !== true) isCertain = true;
    }
    if ((phase & DRAINING) === 0) {
      this.#eachFiring(view, state, (position, t, attemptState) => {
        if (attemptState % 2 === 0) return;
        const code = state.tokens[position] ?? 0;
        const added = [this.tokenClasses.withAttemptState(code, attemptState + 1)];
        const removed = [position];
        moves.push(createMove('restarted', { t: t.index, removed, added, phase, about: removed }));
      });
    }
    return isCertain;
  }

  /** Adds the results of effects and the inputs from outside. */
  #addArrivals(state: State, view: StateView, phase: number, moves: Move[]): void {
    this.#eachFiring(view, state, (position, t, attemptState) => {
      if (attemptState % 2 === 1) return;
      const code = state.tokens[position] ?? 0;
      const removed = [position];
      const about = removed;
      const facts = { t: t.index, removed, phase, about } as const;
      const colors = this.#colorsOfFiring(t, code);
      for (const variant of this.#variants.list(t, this.#takenCounts(t, code)))
        this.#addMoves('ended', variant, facts, state, view, moves, NOTHING, colors);
      if (attemptState / 2 + 1 < t.attempts)
        moves.push(
          createMove('retrying', {
            ...facts,
            added: [this.tokenClasses.withAttemptState(code, attemptState + 1)],
          }),
        );
      if (state.faults > 0) this.#addFault(facts, state, moves, 1);
    });
    for (const t of this.net.arriving ?? NOTHING_ARRIVES)
      for (const variant of this.#variants.list(t, NOTHING))
        this.#addMoves('ended', variant, { t: t.index, phase }, state, view, moves);
    this.net.environment.forEach(({ place }, environment) => {
      if ((state.environment[environment] ?? 0) === 0) return;
      const variant = { alternative: '', deposits: [place], outlets: [], counts: {} };
      this.#addMoves('injected', variant, { phase, environment }, state, view, moves);
    });
  }

  #eachFiring(
    view: StateView,
    state: State,
    each: (position: number, t: ExpandedTransition, attemptState: number) => void,
  ): void {
    if (view.firings === 0) return;
    for (const t of this.net.transitions) {
      if (t.running < 0) continue;
      let last = -1;
      for (const position of view.at[t.running] ?? []) {
        const code = state.tokens[position] ?? 0;
        if (this.ordering === 'unordered' && code === last) continue;
        last = code;
        each(position, t, this.tokenClasses.get(code).attemptState);
      }
    }
  }

  /** Returns the colors that a deposit may have. */
  #colorsOfDeposit(
    place: number,
    output: OutputColors | undefined,
    inputColors: readonly number[],
  ): readonly number[] {
    const effect = this.net.transitions[this.net.places[place]?.effect ?? -1];
    if (effect !== undefined) return [inputColors[effect.keptColor] ?? NO_COLOR];
    if (output === undefined) return this.net.tracked.colors;
    return output.allowed.filter((color) =>
      output.sources.every((input) => {
        const source = inputColors[input] ?? NO_COLOR;
        return source === NO_COLOR || source === color;
      }),
    );
  }

  #colorAt({ tokens }: State, position: number | undefined): number {
    const code = position === undefined ? undefined : tokens[position];
    return code === undefined ? NO_COLOR : this.tokenClasses.get(code).color;
  }

  /** Returns the colors of a firing in flight, by input: it keeps the color of one input. */
  #colorsOfFiring({ keptColor, takes }: ExpandedTransition, code: number): readonly number[] {
    if (keptColor < 0) return NOTHING;
    const { color } = this.tokenClasses.get(code);
    return takes.map((_, input) => (input === keptColor ? color : NO_COLOR));
  }

  /** Returns the number of tokens that a firing took, by input. */
  #takenCounts(t: ExpandedTransition, code: number): readonly number[] {
    const { inputCounts } = this.tokenClasses.get(code);
    return t.takes.map(({ count }, input) => {
      const remembered = t.remembered.indexOf(input);
      return remembered < 0 ? count : (inputCounts[remembered] ?? 0);
    });
  }

  #addReadyFiring(
    t: ExpandedTransition,
    choice: Choice,
    state: State,
    view: StateView,
    moves: Move[],
  ): void {
    this.#addFiring(t, choice, state, view, moves, this.#choices++);
  }

  #addFiring(
    t: ExpandedTransition,
    { takes, broken }: Choice,
    state: State,
    view: StateView,
    moves: Move[],
    choice = -1,
  ): void {
    const taken = takes.length === 1 ? (takes[0] ?? NOTHING) : takes.flat();
    const phase = (state.phase & DRAINING) | SETTLING;
    const about = t.timed === 'no' ? NOTHING : (takes[0] ?? NOTHING);
    const facts = { t: t.index, removed: taken, taken, phase, about, choice } as const;
    if (broken) {
      this.#addFault(facts, state, moves, 0);
      return;
    }
    // A transition may also reset a place that it takes from. Monitors count each removed token once.
    const removed =
      t.resets.length === 0
        ? taken
        : [...new Set([...taken, ...t.resets.flatMap((place) => view.at[place] ?? [])])];
    const counts = takes.map((tokens) => tokens.length);
    const colors =
      this.net.tracked.labels.length === 0
        ? NOTHING
        : takes.map(([first]) => this.#colorAt(state, first));
    if (t.kind === 'effect') {
      const variant = { alternative: '', deposits: [t.running], outlets: [], counts: {} };
      const remembered = t.remembered.map((input) => counts[input] ?? 0);
      const started = { ...facts, removed };
      this.#addMoves('started', variant, started, state, view, moves, remembered, colors);
    } else {
      for (const variant of this.#variants.list(t, counts))
        this.#addMoves(
          'fired',
          variant,
          { ...facts, removed },
          state,
          view,
          moves,
          NOTHING,
          colors,
        );
    }
    if (this.#refuses) this.#addFault(facts, state, moves, 0);
    else if (state.faults > 0) this.#addFault(facts, state, moves, 1);
  }

  #addFault(
    facts: Pick<Move, 't' | 'removed' | 'phase' | 'about'> & Partial<Pick<Move, 'choice'>>,
    state: State,
    moves: Move[],
    faults: number,
  ): void {
    const { fault, unhandledFault } = this.net;
    const holdsFault = facts.removed.some((position) =>
      this.#holdsFault(state.tokens[position] ?? 0),
    );
    const place = holdsFault ? unhandledFault : fault;
    const deposits = place < 0 ? NOTHING : [place];
    const variant = { alternative: '', deposits, outlets: [], counts: {} };
    this.#addMoves('faulted', variant, { ...facts, faults }, state, this.#view, moves);
  }

  /** True for a fault token, and for a firing that took one. */
  #holdsFault(code: number): boolean {
    const { place, inputCounts } = this.tokenClasses.get(code);
    if (place === this.net.fault) return true;
    const effect = this.net.places[place]?.effect ?? -1;
    const t = this.net.transitions[effect];
    if (t === undefined) return false;
    const input = t.takes.findIndex((take) => take.place === this.net.fault);
    if (input < 0) return false;
    const remembered = t.remembered.indexOf(input);
    return remembered < 0 || (inputCounts[remembered] ?? 0) > 0;
  }

  /** Adds one move for each assignment of keys to the added tokens. */
  #addMoves(
    kind: MoveKind,
    variant: Variant,
    facts: Partial<Move>,
    state: State,
    view: StateView,
    moves: Move[],
    inputCounts: readonly number[] = NOTHING,
    inputColors: readonly number[] = NOTHING,
  ): void {
    const { deposits } = variant;
    let choices: KeyAssignment[] = [{ added: [], next: view.names, broken: 0 }];
    for (const [index, place] of deposits.entries()) {
      const isColored = this.net.places[place]?.isColored === true;
      const domains = this.net.places[place]?.domains ?? NOTHING;
      if (domains.length === 0 && inputCounts.length === 0 && !isColored) {
        const code = this.tokenClasses.plainCode(place);
        for (const choice of choices) choice.added.push(code);
      } else {
        if (choices.length > MAX_SUCCESSORS) throw tooManySuccessors();
        const colors = isColored
          ? this.#colorsOfDeposit(place, variant.colors?.[index], inputColors)
          : UNCOLORED;
        // Without ages, equal tokens have no order.
        const isAlike =
          this.ordering === 'unordered' && !isColored && deposits[index - 1] === place;
        choices = choices.flatMap((choice) => {
          const before = isAlike ? choice.added.at(-1) : undefined;
          const atLeast = before === undefined ? undefined : this.tokenClasses.get(before).names;
          return colors.flatMap((color) =>
            assignKeys(
              this.tokenClasses,
              choice,
              { place, domains, inputCounts, color },
              state.faults,
              atLeast,
            ),
          );
        });
      }
    }
    const recordedVariant = kind === 'fired' || kind === 'ended' ? variant : undefined;
    if (moves.length + choices.length > MAX_SUCCESSORS) throw tooManySuccessors();
    for (const { added, broken } of choices) {
      const faults = (facts.faults ?? 0) + broken;
      if (state.faults < faults) continue;
      moves.push(createMove(kind, { ...facts, added, variant: recordedVariant, faults }));
    }
  }
}

function tooManySuccessors(): SearchLimitError {
  return new SearchLimitError(`more than ${MAX_SUCCESSORS} successors of one state`);
}

/** Returns the position of the oldest token, by which the executor orders transitions of equal priority. */
function oldestPosition({ takes }: Choice): number {
  let oldest = Number.POSITIVE_INFINITY;
  for (const [first] of takes) if (first !== undefined) oldest = Math.min(oldest, first);
  return oldest;
}
