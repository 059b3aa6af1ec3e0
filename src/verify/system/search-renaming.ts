import { BROKEN_KEY } from './token-classes.ts';

/** By domain, the new number of each key. */
export type Renaming = readonly ReadonlyMap<number, number>[];

/** A token that has a key: the signature of the token without its keys, and its keys by slot, if it has several. */
export interface KeyUse {
  readonly signature: string;
  readonly beside: readonly (readonly [domain: number, name: number])[];
}

/** No rank and no signature has this number. */
const SEPARATOR = '\uFFFF';

/** If ties need more numberings than this, they are not resolved. */
const MAX_NUMBERINGS = 120;

/**
 * Returns a renaming that leads to the same tokens for all states that differ only in the numbers of their keys, if
 * tokens have several keys. Keys are ranked by their signatures, then by the ranks of the keys beside them. Keys that
 * remain tied are told apart one by one, in every order. Two orders that lead to the same text are symmetric, so only one
 * of them is followed. Of all texts, the least decides.
 */
export function searchRenaming(
  uses: readonly ReadonlyMap<number, readonly KeyUse[]>[],
  signatures: readonly ReadonlyMap<number, string>[],
): Renaming {
  const search = new RenamingSearch(uses);
  const { ranks } = search.least(search.rank(signatures));
  return uses.map((inDomain, domain) =>
    toNumbering([...inDomain.keys()].toSorted((a, b) => search.compare(ranks, domain, a, b))),
  );
}

export function areDistinct(signatures: ReadonlyMap<number, string>): boolean {
  return signatures.size < 2 || new Set(signatures.values()).size === signatures.size;
}

/** Numbers keys in the order of their signatures. */
export function numberBySignature(
  signatures: ReadonlyMap<number, string>,
): ReadonlyMap<number, number> {
  if (signatures.size < 2) return toNumbering([...signatures.keys()]);
  const names = [...signatures].toSorted(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0));
  return toNumbering(names.map(([name]) => name));
}

export function toNumbering(names: readonly number[]): ReadonlyMap<number, number> {
  return new Map(names.map((name, index) => [name, index]));
}

/** A key: its uses, each with the number of its signature and the positions of the keys beside it. */
interface Key {
  readonly uses: readonly { readonly signature: number; readonly beside: readonly number[] }[];
  /** True if no token has another key beside this one: it can be exchanged with those of its rank. */
  readonly isAlone: boolean;
}

/** By position of the key, its rank: equal for keys that nothing tells apart so far. */
type Ranks = readonly number[];

interface Ranked {
  readonly ranks: Ranks;
  /** The tokens with ranks instead of keys. */
  readonly text: string;
}

class RenamingSearch {
  readonly #keys: readonly Key[];
  readonly #positions: readonly ReadonlyMap<number, number>[];
  #numberings = 0;

  constructor(uses: readonly ReadonlyMap<number, readonly KeyUse[]>[]) {
    let count = 0;
    this.#positions = uses.map(
      (inDomain) => new Map([...inDomain.keys()].map((name) => [name, count++])),
    );
    const own = uses.flatMap((inDomain) => [...inDomain.values()]);
    const signatures = new Set(own.flatMap((some) => some.map(({ signature }) => signature)));
    const numbers = new Map([...signatures].toSorted().map((one, index) => [one, index]));
    this.#keys = own.map((some, position) => {
      const known = some.map(({ signature, beside }) => ({
        signature: numbers.get(signature) ?? 0,
        beside: beside.map(([domain, name]) =>
          name === BROKEN_KEY ? BROKEN_KEY : (this.#positions[domain]?.get(name) ?? BROKEN_KEY),
        ),
      }));
      const isAlone = known.every(({ beside }) =>
        beside.every((other) => other === BROKEN_KEY || other === position),
      );
      return { uses: known, isAlone };
    });
  }

  /** Ranks keys by domain and signature. */
  rank(signatures: readonly ReadonlyMap<number, string>[]): Ranks {
    return toRanks(
      signatures.flatMap((inDomain, domain) =>
        [...inDomain.values()].map((signature) => `${String.fromCharCode(domain)}${signature}`),
      ),
    );
  }

  compare(ranks: Ranks, domain: number, a: number, b: number): number {
    const at = (name: number): number => ranks[this.#positions[domain]?.get(name) ?? 0] ?? 0;
    return at(a) - at(b);
  }

  least(ranks: Ranks): Ranked {
    const refined = this.#refine(ranks);
    const tie = this.#findTie(refined);
    if (tie.length === 0) return this.#toRanked(refined);
    let least: Ranked | undefined;
    const seen = new Set<string>();
    for (const key of tie) {
      const apart = this.#refine(setApart(refined, key));
      const { text } = this.#first(apart);
      if (seen.has(text)) continue;
      seen.add(text);
      const found = this.least(apart);
      if (least === undefined || found.text < least.text) least = found;
      if (this.#numberings > MAX_NUMBERINGS) break;
    }
    return least ?? this.#toRanked(refined);
  }

  /** Tells all ties apart by the first key of each. */
  #first(ranks: Ranks): Ranked {
    let refined = ranks;
    for (;;) {
      const [key] = this.#findTie(refined);
      if (key === undefined) return this.#toRanked(refined);
      refined = this.#refine(setApart(refined, key));
    }
  }

  /** Returns the keys of the first tie that matters. */
  #findTie(ranks: Ranks): readonly number[] {
    const first: number[] = [];
    let least = ranks.length;
    for (const [key, rank] of ranks.entries()) {
      const other = first[rank];
      first[rank] ??= key;
      if (other !== undefined && rank < least && this.#keys[key]?.isAlone !== true) least = rank;
    }
    return ranks.flatMap((rank, key) => (rank === least ? [key] : []));
  }

  /** Adds to the rank of each key those of the keys beside it, until that tells no more keys apart. */
  #refine(ranks: Ranks): Ranks {
    let refined = ranks;
    for (let before = -1; ;) {
      const count = new Set(refined).size;
      if (count === before || count === refined.length) return refined;
      before = count;
      const known = refined;
      refined = toRanks(this.#keys.map((key, at) => toText(key, known[at] ?? 0, known)));
    }
  }

  #toRanked(ranks: Ranks): Ranked {
    this.#numberings++;
    const texts = this.#keys.map((key, at) => toText(key, ranks[at] ?? 0, ranks));
    return { ranks, text: texts.toSorted().join(SEPARATOR) };
  }
}

/** A text of the rank of a key and its uses, whose order is that of the ranks. */
function toText({ uses }: Key, own: number, ranks: Ranks): string {
  const [only] = uses;
  const texts =
    uses.length === 1 && only !== undefined
      ? describeUse(only, ranks)
      : uses
          .map((use) => describeUse(use, ranks))
          .toSorted()
          .join(SEPARATOR);
  return String.fromCharCode(own) + texts;
}

function describeUse({ signature, beside }: Key['uses'][number], ranks: Ranks): string {
  return String.fromCharCode(signature, ...beside.map((at) => (at < 0 ? 0 : 1 + (ranks[at] ?? 0))));
}

/** Ranks texts by their order. */
function toRanks(texts: readonly string[]): Ranks {
  const order = new Map([...new Set(texts)].toSorted().map((text, rank) => [text, rank]));
  return texts.map((text) => order.get(text) ?? 0);
}

/** Gives this key a rank of its own, before those that have its rank now. */
function setApart(ranks: Ranks, key: number): Ranks {
  const own = ranks[key] ?? 0;
  return ranks.map((rank, at) => (rank > own || (rank === own && at !== key) ? rank + 1 : rank));
}
