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
