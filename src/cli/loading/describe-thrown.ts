import { describeValue } from '../../core/internal.ts';

/** What a module threw, which can be any value. */
export function describeThrown(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : `it threw ${describeValue(thrown)}.`;
}
