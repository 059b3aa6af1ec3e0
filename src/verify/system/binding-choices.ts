import { BROKEN_KEY } from './token-classes.ts';
import type { TokenClasses } from './token-classes.ts';
import { MAX_SUCCESSORS } from '../properties/bounds.ts';
import type { ExpandedInput, ExpandedTransition } from './expand.ts';
import type { State, StateView } from './state.ts';
import { SearchLimitError } from '../properties/verify-errors.ts';

/** The tokens with which a transition may fire: positions by input. */
export interface Choice {
  readonly takes: readonly (readonly number[])[];
  /** True if a key function throws for the one token in `takes`. The firing is then a fault that holds only this token. */
  readonly broken: boolean;
}

/** `ordered`: states keep the ages of tokens, so the search makes the executor's choice. `unordered`: it tries every choice. */
export type Ordering = 'unordered' | 'ordered';

/** True if no inhibitor, concurrency limit or read prevents `t` from firing. Inputs are not checked. */
export function isPermitted(t: ExpandedTransition, view: StateView): boolean {
  for (const place of t.unless) if (view.count(place) > 0) return false;
  if (t.running >= 0 && view.count(t.running) >= t.concurrency) return false;
  for (const { place, count } of t.reads) if (view.count(place) < count) return false;
  return true;
}

/**
 * Lists the choices of tokens with which `t` can fire. If ordered, there is one choice (the oldest tokens and the first
 * key), unless `t` is timed. If unordered, there is one choice for each different set of tokens.
 */
export function listChoices(
  t: ExpandedTransition,
  state: State,
  view: StateView,
  tokenClasses: TokenClasses,
  ordering: Ordering,
): readonly Choice[] {
  if (!isPermitted(t, view)) return [];
  if (t.keyed) return keyedChoices(t, state, view, tokenClasses, ordering);
  if (t.timed === 'never') return [];
  for (const { place, count } of t.takes) if (view.count(place) < count) return [];
  return product(
    t,
    t.takes.map(({ place }) => view.at[place] ?? []),
    state,
    ordering,
  );
}

function keyedChoices(
  t: ExpandedTransition,
  { tokens, ...rest }: State,
  view: StateView,
  tokenClasses: TokenClasses,
  ordering: Ordering,
): readonly Choice[] {
  const keyName = (position: number, slot: number): number =>
    tokenClasses.get(tokens[position] ?? 0).names[slot] ?? 0;
  const broken: Choice[] = [];
  const seen = new Set<number | undefined>();
  t.takes.forEach((input, index) => {
    if (input.slot < 0) return;
    for (const position of view.at[input.place] ?? []) {
      if (keyName(position, input.slot) !== BROKEN_KEY) continue;
      if (ordering === 'ordered' ? broken.length > 0 : seen.has(tokens[position])) continue;
      seen.add(tokens[position]);
      broken.push({
        takes: t.takes.map((_, at) => (at === index ? [position] : [])),
        broken: true,
      });
    }
  });
  if (broken.length > 0) return broken;
  if (t.timed === 'never') return [];
  const needed = t.takes.find((input) => input.slot >= 0 && input.count > 0);
  const naming = needed === undefined ? t.takes.filter((input) => input.slot >= 0) : [needed];
  const names = new Set(
    naming.flatMap((input) =>
      (view.at[input.place] ?? []).map((position) => keyName(position, input.slot)),
    ),
  );
  const choices: Choice[] = [];
  for (const name of names) {
    const candidates = t.takes.map(({ place, slot }) => {
      const all = view.at[place] ?? [];
      return slot < 0 ? all : all.filter((position) => keyName(position, slot) === name);
    });
    if (t.takes.some(({ count }, index) => (candidates[index]?.length ?? 0) < count)) continue;
    choices.push(...product(t, candidates, { tokens, ...rest }, ordering));
    if (ordering === 'ordered' && t.timed === 'no') break;
  }
  return choices;
}

/** Combines the sets of tokens that each input can take. */
function product(
  t: ExpandedTransition,
  candidates: readonly (readonly number[])[],
  state: State,
  ordering: Ordering,
): readonly Choice[] {
  let choices: (readonly (readonly number[])[])[] = [[]];
  for (let index = 0; index < t.takes.length; index++) {
    const input = t.takes[index];
    const from = candidates[index] ?? [];
    if (input === undefined) continue;
    const timed = index === 0 && t.timed !== 'no';
    const sets = choose(input, from, timed, state, ordering);
    const [only] = sets;
    if (sets.length === 1 && only !== undefined && choices.length === 1)
      choices = [[...(choices[0] ?? []), only]];
    else {
      if (choices.length * sets.length > MAX_SUCCESSORS)
        throw new SearchLimitError(`more than ${MAX_SUCCESSORS} choices to fire "${t.name}"`);
      choices = choices.flatMap((taken) => sets.map((set) => [...taken, set]));
    }
  }
  return choices.map((takes) => ({ takes, broken: false }));
}

function choose(
  input: ExpandedInput,
  from: readonly number[],
  timed: boolean,
  { tokens }: State,
  ordering: Ordering,
): readonly (readonly number[])[] {
  if (input.mode === 'all') return timed && from.length === 0 ? [] : [[...from]];
  const { count } = input;
  if (ordering === 'ordered') return timed ? subsets(from, count) : [from.slice(0, count)];
  const [first] = from;
  if (first === undefined || tokens[first] === tokens[from[from.length - 1] ?? 0])
    return [from.slice(0, count)];
  return multisets(from, count, tokens);
}

/** Lists all subsets of `count` positions. */
function subsets(from: readonly number[], count: number): readonly (readonly number[])[] {
  if (count === 0) return [[]];
  if (waysToChoose(from.length, count) > MAX_SUCCESSORS)
    throw new SearchLimitError(`more than ${MAX_SUCCESSORS} choices of ${count} tokens`);
  return from.flatMap((position, index) =>
    subsets(from.slice(index + 1), count - 1).map((rest) => [position, ...rest]),
  );
}

function waysToChoose(from: number, count: number): number {
  let ways = 1;
  for (let index = 0; index < count; index++) ways = (ways * (from - index)) / (index + 1);
  return ways;
}

/** Lists the subsets of `count` positions that differ in the codes of their tokens. Equal codes must be adjacent. */
function multisets(
  from: readonly number[],
  count: number,
  tokens: readonly number[],
): readonly (readonly number[])[] {
  const found: (readonly number[])[] = [];
  const seen = new Set<string>();
  for (const set of subsets(from, count)) {
    const key = set.map((position) => tokens[position]).join();
    if (seen.has(key)) continue;
    seen.add(key);
    found.push(set);
  }
  return found;
}
