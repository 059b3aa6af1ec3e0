/** The value in the middle. @throws RangeError when there is none */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new RangeError('There is no median of nothing.');
  if (sorted.length % 2 === 1) return middle;
  return (middle + (sorted[sorted.length / 2 - 1] ?? middle)) / 2;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The value at a share of sorted values: 0.99 is the 99th of 100. @throws RangeError when there is none */
export function atShare(sorted: readonly number[], share: number): number {
  const found = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (found === undefined) throw new RangeError('There is no share of nothing.');
  return found;
}
