import { deepFreeze } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';

/** Freezes a value unless it is frozen. Live values are frozen already; this freezes values read from the journal. */
export function ensureFrozen(value: Json): Json {
  return Object.isFrozen(value) ? value : deepFreeze(value);
}
