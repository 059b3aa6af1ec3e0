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

/** By domain, the new number of each name. */
type Renaming = readonly ReadonlyMap<number, number>[];

/** Ties beyond this many ways are left as they come. */
const MOST_WAYS = 120;

/**
 * One written form for states that differ only in how their keys are called: names are numbered anew. Without ages the
 * letters are sorted, too. Two forms of one state would cost time, never a wrong answer: renaming is an isomorphism.
 */
export function canonical(state: State, naming: Naming): State {
  const names = isPlain(state.tokens, naming) ? undefined : namesIn(state, naming);
  const renamed = names === undefined ? state.tokens : rename(state.tokens, names, naming);
  const tokens = naming.ordering === 'ordered' ? renamed : sorted(renamed);
  return tokens === state.tokens ? state : { ...state, tokens };
}

/** The renaming that `canonical` applies; undefined when there are no names. */
export function namesIn({ tokens }: State, naming: Naming): Renaming | undefined {
  const { net, ordering } = naming;
  if (net.keys.domains === 0) return undefined;
  const uses = usesIn(tokens, naming);
  if (uses.every((inDomain) => inDomain.size === 0)) return undefined;
  // With ages, the order in which names first appear is the same for all forms of a state.
  if (ordering === 'ordered') return uses.map((inDomain) => numbered([...inDomain.keys()]));
  const signs = uses.map(
    (inDomain) =>
      new Map(
        [...inDomain].map(([name, own]) => [
          name,
          own
            .map(({ sign }) => sign)
            .toSorted()
            .join(';'),
        ]),
      ),
  );
  if (!net.keys.areEntangled) return signs.map((inDomain) => numbered(inSigns(inDomain).flat()));
  return untangled(tokens, uses, signs, naming);
}

/** True when no domain has a name but the first: nothing is to be renamed. */
function isPlain(tokens: readonly number[], { net, alphabet }: Naming): boolean {
  if (net.keys.domains === 0) return true;
  for (const code of tokens) {
    const { names } = alphabet.letter(code);
    for (let slot = 0; slot < names.length; slot++) if ((names[slot] ?? 0) > 0) return false;
  }
  return true;
}

/** A token that carries a name: what it looks like, and the other names it carries. */
interface Use {
  readonly sign: string;
  readonly beside: readonly (readonly [domain: number, name: number])[];
}

function usesIn(
  tokens: readonly number[],
  { net, alphabet }: Naming,
): readonly ReadonlyMap<number, Use[]>[] {
  const uses: Map<number, Use[]>[] = Array.from({ length: net.keys.domains }, () => new Map());
  for (const code of tokens) {
    const { place, stage, held, names } = alphabet.letter(code);
    const domains = net.places[place]?.domains ?? [];
    for (let slot = 0; slot < names.length; slot++) {
      const name = names[slot] ?? BROKEN;
      if (name === BROKEN) continue;
      const inDomain = uses[domains[slot] ?? 0];
      const known = inDomain?.get(name) ?? [];
      const beside =
        names.length === 1 ? [] : names.map((one, at) => [domains[at] ?? 0, one] as const);
      known.push({ sign: `${place}.${slot}.${stage}.${held.join()}`, beside });
      inDomain?.set(name, known);
    }
  }
  return uses;
}

/** Names in the order of their signs; those with equal signs together. */
function inSigns(signs: ReadonlyMap<number, string>): readonly (readonly number[])[] {
  const groups = new Map<string, number[]>();
  for (const [name, sign] of signs) {
    const group = groups.get(sign);
    if (group === undefined) groups.set(sign, [name]);
    else group.push(name);
  }
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

/** Tokens carry several names: a name is also told by the names beside it, and what is left is tried. */
function untangled(
  tokens: readonly number[],
  uses: readonly ReadonlyMap<number, readonly Use[]>[],
  first: readonly ReadonlyMap<number, string>[],
  naming: Naming,
): Renaming {
  let signs = first;
  for (let round = 0; round < 3; round++) {
    const ranks = signs.map((inDomain) => {
      const rank = new Map<number, number>();
      inSigns(inDomain).forEach((group, at) => group.forEach((name) => rank.set(name, at)));
      return rank;
    });
    const told = ({ sign, beside }: Use): string =>
      `${sign}/${beside.map(([domain, name]) => ranks[domain]?.get(name) ?? BROKEN).join()}`;
    signs = uses.map(
      (inDomain) =>
        new Map([...inDomain].map(([name, own]) => [name, own.map(told).toSorted().join(';')])),
    );
  }
  let ways: (readonly (readonly number[])[])[] = [[]];
  for (const inDomain of signs) {
    let orders: (readonly number[])[] = [[]];
    for (const group of inSigns(inDomain)) {
      const own =
        orders.length * ways.length * factorial(group.length) > MOST_WAYS
          ? [group]
          : permutations(group);
      orders = orders.flatMap((order) => own.map((more) => [...order, ...more]));
    }
    ways = ways.flatMap((way) => orders.map((order) => [...way, order]));
  }
  let best: Renaming = [];
  let least: string | undefined;
  for (const way of ways) {
    const renaming = way.map(numbered);
    const word = String.fromCharCode(...sorted(rename(tokens, renaming, naming)));
    if (least !== undefined && word >= least) continue;
    least = word;
    best = renaming;
  }
  return best;
}

function numbered(names: readonly number[]): ReadonlyMap<number, number> {
  return new Map(names.map((name, index) => [name, index]));
}

function factorial(n: number): number {
  return n <= 1 ? 1 : n * factorial(n - 1);
}

function permutations(of: readonly number[]): readonly (readonly number[])[] {
  if (of.length <= 1) return [of];
  return of.flatMap((one, index) =>
    permutations(of.toSpliced(index, 1)).map((rest) => [one, ...rest]),
  );
}

function rename(
  tokens: readonly number[],
  names: Renaming,
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
