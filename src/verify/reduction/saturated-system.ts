import type { SearchedProperty } from '../properties/property.ts';
import { SearchLimitError } from '../properties/verify-errors.ts';
import type { ExpandedInput, ExpandedNet, ExpandedTransition } from '../system/expand.ts';
import type { Move } from '../system/move.ts';
import type { State } from '../system/state.ts';
import type { TokenClasses } from '../system/token-classes.ts';
import { TransitionSystem } from '../system/transition-system.ts';
import type { Successors } from '../system/transition-system.ts';

/** A step that takes from more places than these cannot be worth a slice. */
const MAX_LEAVINGS = 256;

/** By place: the number of equal tokens that stands for this number or more. */
type TokenCaps = readonly number[];

/**
 * The transition system of a net in which a place counts equal tokens only up to a cap. It has every behavior of the
 * net, and it is finite even if a place has no bound. A firing that takes one of `cap` tokens leaves one less, or `cap`.
 */
export class SaturatedSystem extends TransitionSystem {
  readonly #caps: TokenCaps;

  constructor(
    net: ExpandedNet,
    caps: TokenCaps,
    countedOutlets: ReadonlySet<string>,
    tokenClasses: TokenClasses,
  ) {
    super(saturateNet(net, caps), 'unordered', countedOutlets, tokenClasses);
    this.#caps = caps;
  }

  override initial(): State {
    return this.#saturate(super.initial());
  }

  override successors(state: State): Successors {
    const found = super.successors(state);
    return { ...found, moves: found.moves.flatMap((move) => this.#listLeavings(state, move)) };
  }

  override apply(state: State, move: Move): State {
    return this.#saturate(super.apply(state, move));
  }

  /** The move, and the moves after which places that it takes from have more tokens. */
  #listLeavings(state: State, move: Move): readonly Move[] {
    if (move.kind === 'retrying' || move.kind === 'restarted') return [move];
    // A fault may hold one of several tokens, and the end of a firing resets nothing.
    const fires = move.kind === 'fired' || move.kind === 'started';
    const t = fires ? this.net.transitions[move.t] : undefined;
    let moves: readonly Move[] = [move];
    for (const position of move.removed) {
      const { place } = this.tokenClasses.get(state.tokens[position] ?? 0);
      if (!this.#isSaturated(state, position, place)) continue;
      if (t !== undefined && empties(t, place)) continue;
      if (moves.length > MAX_LEAVINGS)
        throw new SearchLimitError(`more than ${MAX_LEAVINGS} successors of one step`);
      moves = moves.flatMap((one) => [
        one,
        { ...one, removed: one.removed.filter((other) => other !== position) },
      ]);
    }
    return moves;
  }

  #isSaturated({ tokens }: State, position: number, place: number): boolean {
    const code = tokens[position];
    let equal = 0;
    for (const other of tokens) if (other === code) equal++;
    return equal >= (this.#caps[place] ?? 1);
  }

  /** Equal tokens are adjacent. */
  #saturate(state: State): State {
    const { tokens } = state;
    let equal = 0;
    const counted = tokens.filter((code, position) => {
      equal = code === tokens[position - 1] ? equal + 1 : 1;
      return equal <= (this.#caps[this.tokenClasses.get(code).place] ?? 1);
    });
    return counted.length === tokens.length ? state : { ...state, tokens: counted };
  }
}

/**
 * Returns caps that count what one firing puts in a place, and what a safety property compares. So a place is counted
 * exactly unless it gets tokens again before they are taken.
 *
 * An output `each` moves the number of tokens that an input took. So the place of that input is counted as far as the
 * place of the output, and as far as the input takes: what is more there is also more here.
 */
export function tokenCaps(net: ExpandedNet, property: SearchedProperty): TokenCaps {
  const most = net.places.map(() => 1);
  const raise = (place: number, count: number): boolean => {
    if (place < 0 || count <= (most[place] ?? 1)) return false;
    most[place] = count;
    return true;
  };
  for (const { place, times } of net.net.initial)
    raise(net.placeIndex.get(place.name) ?? -1, times);
  const moved: { readonly from: number; readonly to: number }[] = [];
  for (const { takes, alternatives } of net.transitions)
    for (const { place, max, each } of alternatives.flatMap(({ outputs }) => outputs)) {
      raise(place, max);
      const input = takes[each];
      if (input === undefined) continue;
      raise(input.place, input.count);
      if (place >= 0) moved.push({ from: input.place, to: place });
    }
  for (let grows = true; grows;) {
    grows = false;
    for (const { from, to } of moved) if (raise(from, most[to] ?? 1)) grows = true;
  }
  const compared = 'max' in property ? property.max : 0;
  const marked = property.kind === 'unreachable' ? Object.values(property.marked) : [];
  const least = Math.max(compared, ...marked);
  return most.map((count) => Math.max(count, least) + 1);
}

/** What depends on a number of tokens above the cap is optional. */
function saturateNet(net: ExpandedNet, caps: TokenCaps): ExpandedNet {
  const saturate = (t: ExpandedTransition): ExpandedTransition => saturateTransition(t, caps);
  return {
    ...net,
    transitions: net.transitions.map(saturate),
    byPriority: net.byPriority.map((group) => group.map(saturate)),
    timed: net.timed.map(saturate),
    timedByPriority: net.timedByPriority.map((group) => group.map(saturate)),
  };
}

function saturateTransition(t: ExpandedTransition, caps: TokenCaps): ExpandedTransition {
  const isAbove = ({ place, count }: Pick<ExpandedInput, 'place' | 'count'>): boolean =>
    count > (caps[place] ?? 1);
  const limit = t.running < 0 ? Number.POSITIVE_INFINITY : (caps[t.running] ?? 1);
  const exceeds = t.concurrency > limit && Number.isFinite(t.concurrency);
  if (!t.takes.some(isAbove) && !t.reads.some(isAbove) && !exceeds) return t;
  const lower = <T extends Pick<ExpandedInput, 'place' | 'count'>>(arc: T): T => ({
    ...arc,
    count: Math.min(arc.count, caps[arc.place] ?? 1),
  });
  return {
    ...t,
    isOptional: true,
    concurrency: exceeds ? Number.POSITIVE_INFINITY : t.concurrency,
    takes: t.takes.map(lower),
    reads: t.reads.map(lower),
  };
}

function empties(t: ExpandedTransition, place: number): boolean {
  return (
    t.resets.includes(place) ||
    t.takes.some((input) => input.place === place && input.mode === 'all')
  );
}
