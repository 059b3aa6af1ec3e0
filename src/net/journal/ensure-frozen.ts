import { deepFreeze } from '../../core/json/json.ts';
import type { Json } from '../../core/json/json.ts';

/** Freezes a value unless it is frozen. Live values are frozen already; this freezes values read from the journal. */
export function ensureFrozen(value: Json): Json {
  return Object.isFrozen(value) ? value : deepFreeze(value);
}
