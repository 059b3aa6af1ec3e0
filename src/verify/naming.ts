import { BROKEN } from './alphabet.ts';
import type { Alphabet } from './alphabet.ts';
import type { Ordering } from './binding-choices.ts';
import type { ExpandedNet } from './expand.ts';
import type { State } from './state.ts';

interface Naming {
  readonly net: ExpandedNet;
  readonly alphabet: Alphabet;
  readonly ordering: Ordering;
}

/**
 * One written form for states that differ only in how their keys are called: names are numbered anew. Without ages the
 * letters are sorted, too. Two forms of one state would cost time, never a wrong answer: renaming is an isomorphism.
 */
export function canonical(state: State, naming: Naming): State {
  const names = namesIn(state, naming);
  const renamed = names === undefined ? state.tokens : rename(state.tokens, names, naming);
  const tokens = naming.ordering === 'ordered' ? renamed : sorted(renamed);
  return tokens === state.tokens ? state : { ...state, tokens };
}

/** By domain, the new number of each name; undefined when there are no names. */
export function namesIn(
  { tokens }: State,
  { net, alphabet, ordering }: Naming,
): readonly ReadonlyMap<number, number>[] | undefined {
  if (net.keys.domains === 0) return undefined;
  const seen: Map<number, string[]>[] = Array.from({ length: net.keys.domains }, () => new Map());
  let any = false;
  for (const code of tokens) {
    const { place, stage, held, names } = alphabet.letter(code);
    const domains = net.places[place]?.domains ?? [];
    for (let slot = 0; slot < names.length; slot++) {
      const name = names[slot] ?? BROKEN;
      if (name === BROKEN) continue;
      any = true;
      const inDomain = seen[domains[slot] ?? 0];
      const signs = inDomain?.get(name) ?? [];
      signs.push(`${place}.${slot}.${stage}.${held.join()}`);
      inDomain?.set(name, signs);
    }
  }
  if (!any) return undefined;
  return seen.map((inDomain) => {
    // With ages, the order in which names first appear is the same for all forms of a state.
    const order =
      ordering === 'ordered'
        ? [...inDomain.keys()]
        : [...inDomain]
            .map(([name, signs]) => [name, signs.toSorted().join(';')] as const)
            .toSorted(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0))
            .map(([name]) => name);
    return new Map(order.map((name, index) => [name, index]));
  });
}

function rename(
  tokens: readonly number[],
  names: readonly ReadonlyMap<number, number>[],
  { net, alphabet }: Naming,
): readonly number[] {
  return tokens.map((code) => {
    const letter = alphabet.letter(code);
    if (letter.names.length === 0) return code;
    const domains = net.places[letter.place]?.domains ?? [];
    return alphabet.code({
      ...letter,
      names: letter.names.map((name, slot) =>
        name === BROKEN ? BROKEN : (names[domains[slot] ?? 0]?.get(name) ?? name),
      ),
    });
  });
}

/** Sorted numbers. Words are short and nearly in order: insertion is the fastest way. */
function sorted(tokens: readonly number[]): readonly number[] {
  let inOrder = true;
  for (let index = 1; index < tokens.length && inOrder; index++)
    inOrder = (tokens[index - 1] ?? 0) <= (tokens[index] ?? 0);
  if (inOrder) return tokens;
  const copy = [...tokens];
  for (let index = 1; index < copy.length; index++) {
    const value = copy[index] ?? 0;
    let at = index - 1;
    for (; at >= 0 && (copy[at] ?? 0) > value; at--) copy[at + 1] = copy[at] ?? 0;
    copy[at + 1] = value;
  }
  return copy;
}
