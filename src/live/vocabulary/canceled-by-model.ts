import { readMember } from '../../core/internal.ts';
import type { JsonObject } from '../../core/index.ts';

/** The code in the result of a call that the model has canceled. The result is kept, and not sent to the model. */
export const CANCELED_BY_MODEL = 'canceled_by_model';

/** True for the result of a call that the model has canceled. */
export function isCanceledByModel(response: JsonObject): boolean {
  return readMember(readMember(response, 'error'), 'code') === CANCELED_BY_MODEL;
}
