import { BROKEN_KEY } from './token-classes.ts';
import type { TokenClasses } from './token-classes.ts';
import type { Ordering } from './binding-choices.ts';
import type { ExpandedNet } from './expand.ts';
import { areDistinct, numberBySignature, searchRenaming, toNumbering } from './search-renaming.ts';
import type { KeyUse, Renaming } from './search-renaming.ts';
import type { State } from './state.ts';

const NONE: KeyUse['beside'] = [];

interface CanonicalContext {
  readonly net: ExpandedNet;
  readonly tokenClasses: TokenClasses;
  readonly ordering: Ordering;
}

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
    (inDomain) => new Map([...inDomain].map(([name, own]) => [name, joinSignatures(own)])),
  );
  // Whether signatures tie does not depend on the numbers of the keys, so all forms of a state take the same branch.
  if (!net.keys.hasMultipleKeys || signatures.every(areDistinct))
    return signatures.map(numberBySignature);
  return searchRenaming(uses, signatures);
}

function joinSignatures(uses: readonly KeyUse[]): string {
  const [first] = uses;
  if (uses.length === 1 && first !== undefined) return first.signature;
  return uses
    .map(({ signature }) => signature)
    .toSorted()
    .join(';');
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

function collectUses(
  tokens: readonly number[],
  { net, tokenClasses }: CanonicalContext,
): readonly ReadonlyMap<number, KeyUse[]>[] {
  const uses: Map<number, KeyUse[]>[] = Array.from({ length: net.keys.domains }, () => new Map());
  for (const code of tokens) {
    const { place, names } = tokenClasses.get(code);
    const domains = net.places[place]?.domains ?? [];
    for (let slot = 0; slot < names.length; slot++) {
      const name = names[slot] ?? BROKEN_KEY;
      if (name === BROKEN_KEY) continue;
      const inDomain = uses[domains[slot] ?? 0];
      const beside =
        names.length === 1 ? NONE : names.map((one, at) => [domains[at] ?? 0, one] as const);
      const use = { signature: `${slot}.${tokenClasses.signature(code)}`, beside };
      const known = inDomain?.get(name);
      if (known === undefined) inDomain?.set(name, [use]);
      else known.push(use);
    }
  }
  return uses;
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
    let isSame = true;
    const renamed = tokenClass.names.map((name, slot) => {
      if (name === BROKEN_KEY) return BROKEN_KEY;
      const after = names[domains[slot] ?? 0]?.get(name) ?? name;
      if (after !== name) isSame = false;
      return after;
    });
    return isSame ? code : tokenClasses.withNames(code, renamed);
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
