/** A key of state that differs between two moments. */
export interface StateChange {
  readonly key: string;
  readonly how: 'added' | 'changed' | 'removed';
  readonly value: unknown;
}

/** Compares two states key by key. */
export function diffState(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly StateChange[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return keys.flatMap((key): readonly StateChange[] => {
    const value = after[key];
    if (!Object.hasOwn(after, key)) return [{ key, how: 'removed', value: before[key] }];
    if (!Object.hasOwn(before, key)) return [{ key, how: 'added', value }];
    return JSON.stringify(before[key]) === JSON.stringify(value)
      ? []
      : [{ key, how: 'changed', value }];
  });
}
