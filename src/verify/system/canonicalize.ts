import { BROKEN_KEY } from './token-classes.ts';
import type { TokenClasses } from './token-classes.ts';
import type { Ordering } from './binding-choices.ts';
import type { ExpandedNet } from './expand.ts';
import type { State } from './state.ts';

interface CanonicalContext {
  readonly net: ExpandedNet;
  readonly tokenClasses: TokenClasses;
  readonly ordering: Ordering;
}

/** By domain, the new number of each key. */
type Renaming = readonly ReadonlyMap<number, number>[];

/** If ties allow more assignments than this, they are not resolved. */
const MAX_ASSIGNMENTS = 120;

/**
 * Returns one canonical form for states that differ only in the numbers of their keys, by numbering the keys again. In
 * an unordered search it also sorts the tokens. If a state keeps two forms, the search takes longer but stays correct,
 * because renaming is an isomorphism.
 */
export function canonicalize(state: State, context: CanonicalContext): State {
  const names = hasOnlyFirstNames(state.tokens, context)
    ? undefined
    : canonicalRenaming(state, context);
  const renamed = names === undefined ? state.tokens : renameKeys(state.tokens, names, context);
  const tokens = context.ordering === 'ordered' ? renamed : sorted(renamed);
  return tokens === state.tokens ? state : { ...state, tokens };
}

/** Returns the renaming that `canonicalize` applies. Undefined if no token has a key. */
export function canonicalRenaming(
  { tokens }: State,
  context: CanonicalContext,
): Renaming | undefined {
  const { net, ordering } = context;
  if (net.keys.domains === 0) return undefined;
  const uses = collectUses(tokens, context);
  if (uses.every((inDomain) => inDomain.size === 0)) return undefined;
  // In an ordered search, keys first appear in the same order in all forms of a state.
  if (ordering === 'ordered') return uses.map((inDomain) => toNumbering([...inDomain.keys()]));
  const signatures = uses.map(
    (inDomain) =>
      new Map(
        [...inDomain].map(([name, own]) => [
          name,
          own
            .map(({ signature }) => signature)
            .toSorted()
            .join(';'),
        ]),
      ),
  );
  // Whether signatures tie does not depend on the numbers of the keys, so all forms of a state take the same branch.
  if (!net.keys.hasMultipleKeys || signatures.every(areDistinct))
    return signatures.map(numberBySignature);
  return searchRenaming(tokens, uses, signatures, context);
}

/** True if every key is the first of its domain, so there is nothing to rename. */
function hasOnlyFirstNames(
  tokens: readonly number[],
  { net, tokenClasses }: CanonicalContext,
): boolean {
  if (net.keys.domains === 0) return true;
  for (const code of tokens) {
    const { names } = tokenClasses.get(code);
    for (let slot = 0; slot < names.length; slot++) if ((names[slot] ?? 0) > 0) return false;
  }
  return true;
}

/** A token that has a key: the signature of the token without its keys, and its other keys. */
interface KeyUse {
  readonly signature: string;
  readonly beside: readonly (readonly [domain: number, name: number])[];
}

function collectUses(
  tokens: readonly number[],
  { net, tokenClasses }: CanonicalContext,
): readonly ReadonlyMap<number, KeyUse[]>[] {
  const uses: Map<number, KeyUse[]>[] = Array.from({ length: net.keys.domains }, () => new Map());
  for (const code of tokens) {
    const { place, attemptState, inputCounts, names } = tokenClasses.get(code);
    const domains = net.places[place]?.domains ?? [];
    for (let slot = 0; slot < names.length; slot++) {
      const name = names[slot] ?? BROKEN_KEY;
      if (name === BROKEN_KEY) continue;
      const inDomain = uses[domains[slot] ?? 0];
      const known = inDomain?.get(name) ?? [];
      const beside =
        names.length === 1 ? [] : names.map((one, at) => [domains[at] ?? 0, one] as const);
      known.push({ signature: `${place}.${slot}.${attemptState}.${inputCounts.join()}`, beside });
      inDomain?.set(name, known);
    }
  }
  return uses;
}

/** Groups keys by signature, in the order of the signatures. */
function groupBySignature(signatures: ReadonlyMap<number, string>): readonly (readonly number[])[] {
  const groups = new Map<string, number[]>();
  for (const [name, signature] of signatures) {
    const group = groups.get(signature);
    if (group === undefined) groups.set(signature, [name]);
    else group.push(name);
  }
  if (groups.size < 2) return [...groups.values()];
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

function areDistinct(signatures: ReadonlyMap<number, string>): boolean {
  return signatures.size < 2 || new Set(signatures.values()).size === signatures.size;
}

function numberBySignature(signatures: ReadonlyMap<number, string>): ReadonlyMap<number, number> {
  return toNumbering(groupBySignature(signatures).flat());
}

/**
 * For tokens with several keys: refines the signature of each key by the keys beside it, then tries all orders of the
 * keys that are still tied.
 */
function searchRenaming(
  tokens: readonly number[],
  uses: readonly ReadonlyMap<number, readonly KeyUse[]>[],
  first: readonly ReadonlyMap<number, string>[],
  context: CanonicalContext,
): Renaming {
  let signatures = first;
  for (let round = 0; round < 3 && !signatures.every(areDistinct); round++) {
    const ranks = signatures.map((inDomain) => {
      const rank = new Map<number, number>();
      groupBySignature(inDomain).forEach((group, at) =>
        group.forEach((name) => rank.set(name, at)),
      );
      return rank;
    });
    const refineSignature = ({ signature, beside }: KeyUse): string =>
      `${signature}/${beside.map(([domain, name]) => ranks[domain]?.get(name) ?? BROKEN_KEY).join()}`;
    signatures = uses.map(
      (inDomain) =>
        new Map(
          [...inDomain].map(([name, own]) => [name, own.map(refineSignature).toSorted().join(';')]),
        ),
    );
  }
  if (signatures.every(areDistinct)) return signatures.map(numberBySignature);
  let assignments: (readonly (readonly number[])[])[] = [[]];
  for (const inDomain of signatures) {
    let orders: (readonly number[])[] = [[]];
    for (const group of groupBySignature(inDomain)) {
      const own =
        orders.length * assignments.length * factorial(group.length) > MAX_ASSIGNMENTS
          ? [group]
          : permutations(group);
      orders = orders.flatMap((order) => own.map((more) => [...order, ...more]));
    }
    assignments = assignments.flatMap((way) => orders.map((order) => [...way, order]));
  }
  let best: Renaming = [];
  let least: string | undefined;
  for (const assignment of assignments) {
    const renaming = assignment.map(toNumbering);
    const encoded = String.fromCharCode(...sorted(renameKeys(tokens, renaming, context)));
    if (least !== undefined && encoded >= least) continue;
    least = encoded;
    best = renaming;
  }
  return best;
}

function toNumbering(names: readonly number[]): ReadonlyMap<number, number> {
  return new Map(names.map((name, index) => [name, index]));
}

function factorial(n: number): number {
  return n <= 1 ? 1 : n * factorial(n - 1);
}

function permutations(items: readonly number[]): readonly (readonly number[])[] {
  if (items.length <= 1) return [items];
  return items.flatMap((one, index) =>
    permutations(items.toSpliced(index, 1)).map((rest) => [one, ...rest]),
  );
}

function renameKeys(
  tokens: readonly number[],
  names: Renaming,
  { net, tokenClasses }: CanonicalContext,
): readonly number[] {
  return tokens.map((code) => {
    const tokenClass = tokenClasses.get(code);
    if (tokenClass.names.length === 0) return code;
    const domains = net.places[tokenClass.place]?.domains ?? [];
    return tokenClasses.codeFor({
      ...tokenClass,
      names: tokenClass.names.map((name, slot) =>
        name === BROKEN_KEY ? BROKEN_KEY : (names[domains[slot] ?? 0]?.get(name) ?? name),
      ),
    });
  });
}

/** Returns sorted codes. Insertion sort, because the lists are short and nearly sorted. */
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
