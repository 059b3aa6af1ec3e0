import { canonicalJson } from '../../core/index.ts';
import type { SessionWrite } from '../vocabulary/state.ts';

/** The keys whose value is no longer the one that the writer read. */
export function conflictingKeys(
  { seen = {} }: SessionWrite,
  state: Readonly<Record<string, unknown>>,
): readonly string[] {
  return Object.entries(seen).flatMap(([key, value]) =>
    canonicalJson(state[key] ?? null) === canonicalJson(value) ? [] : [key],
  );
}

/** The error message of a write that conflicts. */
export function conflictMessage(keys: readonly string[]): string {
  const names = keys.map((key) => `"${key}"`).join(', ');
  return `State ${names} was changed by someone else while the tool ran: what the tool wrote to state was not kept. Read it again before trying once more.`;
}
