import type { ExpandedNet } from '../system/expand.ts';
import { counterName } from './terms.ts';
import type { Term } from './terms.ts';
import type { Rule } from './rules.ts';

/**
 * Returns the weighted sums of tokens that no step changes, as equations. Each change of a step that has no constant size
 * (a reset, an `all` input, an output of a variable number, an input from outside) is a separate vector, so a sum over
 * such a place is not an invariant here.
 */
export function invariants(
  net: ExpandedNet,
  rules: readonly Rule[],
  initialCount: (place: number) => number,
  boundedEnvironment: boolean,
): readonly Term[] {
  const places = [
    ...net.places.map(({ index }) => index),
    ...(boundedEnvironment ? net.environment.map((_, index) => -1 - index) : []),
  ];
  const vectors = rules.flatMap(({ fixed, varying }) => [fixed, ...varying]);
  return nullSpace(vectors.map((vector) => places.map((place) => vector.get(place) ?? 0))).map(
    (weights) => {
      const used = places
        .map((place, index) => [place, weights[index] ?? 0] as const)
        .filter(([, weight]) => weight !== 0);
      const sum = used.map(([place, weight]) => `(* ${toLiteral(weight)} ${counterName(place)})`);
      const total = used.reduce((all, [place, weight]) => all + weight * initialCount(place), 0);
      return `(= ${sum.length === 1 ? (sum[0] ?? '0') : `(+ ${sum.join(' ')})`} ${toLiteral(total)})`;
    },
  );
}

/** Returns an integer as an SMT-LIB literal. */
export function toLiteral(value: number): Term {
  return value < 0 ? `(- ${-value})` : String(value);
}

/** Returns a basis of the integer vectors that are orthogonal to all rows, by Gaussian elimination. */
export function nullSpace(rows: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const width = rows[0]?.length ?? 0;
  const reduced: number[][] = [];
  const pivots: number[] = [];
  for (const row of rows) {
    const left = [...row];
    reduced.forEach((before, index) => eliminate(left, before, pivots[index] ?? 0));
    const pivot = left.findIndex((value) => value !== 0);
    if (pivot < 0) continue;
    const own = divideByGcd(left);
    for (const before of reduced) eliminate(before, own, pivot);
    reduced.push(own);
    pivots.push(pivot);
  }
  const basis: (readonly number[])[] = [];
  for (let column = 0; column < width; column++) {
    if (pivots.includes(column)) continue;
    // Scale the vector of this free column to integers.
    const scale = reduced.reduce(
      (all, row, index) => leastCommonMultiple(all, Math.abs(row[pivots[index] ?? 0] ?? 1)),
      1,
    );
    const vector = Array.from({ length: width }, () => 0);
    vector[column] = scale;
    reduced.forEach((row, index) => {
      const pivot = pivots[index] ?? 0;
      vector[pivot] = 0 - ((row[column] ?? 0) * scale) / (row[pivot] ?? 1);
    });
    basis.push(divideByGcd(vector));
  }
  return basis.filter((vector) => vector.every(Number.isSafeInteger));
}

/** Makes `row` zero in the column `pivot`, by subtracting a multiple of `by`. */
function eliminate(row: number[], by: readonly number[], pivot: number): void {
  const factor = row[pivot] ?? 0;
  if (factor === 0) return;
  const own = by[pivot] ?? 1;
  for (let index = 0; index < row.length; index++)
    row[index] = (row[index] ?? 0) * own - (by[index] ?? 0) * factor;
  const short = divideByGcd(row);
  for (let index = 0; index < row.length; index++) row[index] = short[index] ?? 0;
}

function divideByGcd(vector: readonly number[]): number[] {
  const divisor = vector.reduce((all, value) => greatestCommonDivisor(all, Math.abs(value)), 0);
  return vector.map((value) => (divisor > 1 ? value / divisor : value));
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

function leastCommonMultiple(a: number, b: number): number {
  return (a / greatestCommonDivisor(a, b)) * b;
}
