/** An SMT-LIB term over integers, or a condition. */
export type Term = string;

/** Returns the name of the counter of a place. */
export function counter(place: number): Term {
  return `p${place}`;
}

/** Returns the index that stands for the tokens that may still enter an environment place. */
export function outside(index: number): number {
  return -1 - index;
}

/** Returns the name of a counter: of a place, or of the tokens that may still enter (a negative index). */
export function counterName(place: number): Term {
  return place >= 0 ? counter(place) : `e${-1 - place}`;
}

/** Returns the conjunction of conditions. */
export function conjunction(terms: readonly Term[]): Term {
  if (terms.length === 0) return 'true';
  return terms.length === 1 ? (terms[0] ?? 'true') : `(and ${terms.join(' ')})`;
}
