import type { ExpandedNet } from '../system/expand.ts';
import type { LiveParts } from './live-parts.ts';

/** A weighted sum of the tokens of some places: the weight by place. */
export type TokenSum = ReadonlyMap<number, number>;

/** Small enough that the product of two residues is exact. */
const PRIME = 67_108_859;
const MOST_WEIGHT = 2;

/** Between which places sums are looked for. */
export interface SumQuestion {
  readonly places: readonly number[];
  /** The places that the sums are about: each sum has one of them. */
  readonly apart: ReadonlySet<number>;
  /** Places whose tokens tell that something unusual happened, such as a stop. */
  readonly signals: ReadonlySet<number>;
}

/**
 * Returns weighted sums of the tokens of these places that nearly all firings leave unchanged, such as the difference of
 * the tokens on the two ways to a join. They are candidates: a view follows each change of a sum. A firing that empties
 * one of the places, or gives a token to one of `signals`, may change it.
 */
export function findTokenSums(
  net: ExpandedNet,
  live: LiveParts,
  { places, apart, signals }: SumQuestion,
): readonly TokenSum[] {
  const countable = places.filter((place) => isCountable(net, place));
  const columns = [
    ...countable.filter((place) => !apart.has(place)),
    ...countable.filter((place) => apart.has(place)),
  ];
  const columnsByPlace = new Map(columns.map((place, column) => [place, column]));
  const rows = listChanges(net, live, columnsByPlace, signals);
  const pivots = eliminate(rows);
  const isPivot = new Set(pivots.map(({ column }) => column));
  return columns.flatMap((place, free) => {
    if (isPivot.has(free) || !apart.has(place)) return [];
    const weights = new Map([[place, 1]]);
    for (const { column, row } of pivots) {
      const weight = toSigned(PRIME - (row.get(free) ?? 0));
      if (weight !== 0) weights.set(columns[column] ?? -1, weight);
    }
    const isSmall = [...weights.values()].every((weight) => Math.abs(weight) <= MOST_WEIGHT);
    return isSmall && weights.size > 1 ? [weights] : [];
  });
}

/** True if each firing gives the place a number of tokens that its outputs tell. */
function isCountable({ transitions }: ExpandedNet, place: number): boolean {
  return transitions.every(({ alternatives }) =>
    alternatives.every(({ outputs }) =>
      outputs.every((output) => output.place !== place || (output.each < 0 && output.max <= 1)),
    ),
  );
}

type Row = Map<number, number>;

/** What each usual firing adds to the places, by column. */
function listChanges(
  net: ExpandedNet,
  live: LiveParts,
  columnsByPlace: ReadonlyMap<number, number>,
  signals: ReadonlySet<number>,
): Row[] {
  const rows: Row[] = [];
  const add = (changes: readonly (readonly [place: number, count: number])[]): void => {
    const row: Row = new Map();
    for (const [place, count] of changes) {
      const column = columnsByPlace.get(place);
      if (column !== undefined) row.set(column, ((row.get(column) ?? 0) + count + PRIME) % PRIME);
    }
    for (const [column, value] of row) if (value === 0) row.delete(column);
    if (row.size > 0) rows.push(row);
  };
  for (const t of net.transitions) {
    if (!live.transitions.has(t.index)) continue;
    if (net.net.transitions[t.index]?.spec.isForFormerTokens === true) continue;
    const emptied = [
      ...t.resets,
      ...t.takes.flatMap(({ mode, place }) => (mode === 'all' ? [place] : [])),
    ];
    if (emptied.some((place) => columnsByPlace.has(place))) continue;
    const taken = t.takes.map(({ place, count }) => [place, -count] as const);
    const given = t.alternatives
      .filter(({ outputs }) => !outputs.some(({ place }) => signals.has(place)))
      .map(({ outputs }) => outputs.map(({ place, min }) => [place, min] as const));
    if (t.running < 0) for (const outputs of given) add([...taken, ...outputs]);
    else {
      add([...taken, [t.running, 1]]);
      for (const outputs of given) add([[t.running, -1], ...outputs]);
    }
  }
  return rows;
}

/** Gauss-Jordan elimination, modulo a prime: each pivot's column is in its own row only. */
function eliminate(
  rows: readonly Row[],
): readonly { readonly column: number; readonly row: Row }[] {
  const pivots: { column: number; row: Row }[] = [];
  for (const given of rows) {
    const row = new Map(given);
    for (const pivot of pivots) subtract(row, pivot.row, row.get(pivot.column) ?? 0);
    const column = Math.min(...row.keys());
    if (!Number.isFinite(column)) continue;
    const inverse = power(row.get(column) ?? 1, PRIME - 2);
    for (const [key, value] of row) row.set(key, (value * inverse) % PRIME);
    for (const pivot of pivots) subtract(pivot.row, row, pivot.row.get(column) ?? 0);
    pivots.push({ column, row });
  }
  return pivots;
}

function subtract(row: Row, other: Row, factor: number): void {
  if (factor === 0) return;
  for (const [column, value] of other) {
    const left = ((row.get(column) ?? 0) + PRIME - ((value * factor) % PRIME)) % PRIME;
    if (left === 0) row.delete(column);
    else row.set(column, left);
  }
}

function power(base: number, exponent: number): number {
  let result = 1;
  for (let [square, left] = [base, exponent]; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = (result * square) % PRIME;
    square = (square * square) % PRIME;
  }
  return result;
}

function toSigned(residue: number): number {
  const value = residue % PRIME;
  return value > PRIME / 2 ? value - PRIME : value;
}
