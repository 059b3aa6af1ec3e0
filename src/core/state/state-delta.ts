import { encodeJson, decodeJson } from '../json/encode-json.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { isJsonObject, type Json } from '../json/json.ts';
import { normalizeStateKey, validateStateKey } from './state-key.ts';

/** State keys and their new values. A value of null is a value; removal is said elsewhere. */
export type StateDelta = { readonly [key: string]: Json };

/**
 * Reads a state delta: every key passes `validateStateKey`, every value is JSON. Keys come back in normal form.
 * It is the one gate for deltas of events, of JSON input and of tools.
 * @throws InvalidStateKeyError, NotSerializableError, InvalidInputError
 */
export function validateStateDelta(delta: unknown): StateDelta {
  if (!isJsonObject(delta)) throw new InvalidInputError('stateDelta', 'must be an object.');
  const normal = new Map<string, Json>();
  for (const [key, value] of Object.entries(delta)) {
    validateStateKey(key);
    const normalKey = normalizeStateKey(key);
    if (normal.has(normalKey)) {
      throw new InvalidInputError(`stateDelta[${JSON.stringify(key)}]`, 'is given twice.');
    }
    normal.set(normalKey, copyValue(value, key));
  }
  return Object.fromEntries(normal);
}

// What the caller changes afterwards must not change what was accepted.
function copyValue(value: unknown, key: string): Json {
  const what = `stateDelta[${JSON.stringify(key)}]`;
  return decodeJson(encodeJson(value, what), what);
}
