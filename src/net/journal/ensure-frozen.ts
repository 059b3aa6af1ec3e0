import { deepFreeze } from '../../core/json/json.ts';
import type { Json } from '../../core/json/json.ts';

/** What ran froze its values; what comes out of the journal is frozen here, so that a recovery runs under the same law. */
export function ensureFrozen(value: Json): Json {
  return Object.isFrozen(value) ? value : deepFreeze(value);
}
