import type { JsonObject } from '../../core/index.ts';
import { listConflicts, readOwn } from '../../core/internal.ts';
import type { SessionWrite } from '../vocabulary/state.ts';

/** The keys whose value is no longer the one that the writer read. */
export function conflictingKeys({ seen = {} }: SessionWrite, state: JsonObject): readonly string[] {
  return listConflicts(seen, (key) => readOwn(state, key));
}

/** The error message of a write that conflicts. */
export function conflictMessage(keys: readonly string[]): string {
  const names = keys.map((key) => `"${key}"`).join(', ');
  return `State ${names} was changed by someone else while the tool ran: what the tool wrote to state was not kept. Read it again before trying once more.`;
}
