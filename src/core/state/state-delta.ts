import { decodeJson } from '../json/decode-json.ts';
import { encodeJson } from '../json/encode-json.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { isJsonObject, type Json } from '../json/json.ts';
import { normalizeStateKey, validateStateKey } from './state-key.ts';

/** State keys with their new values. Null is an ordinary value; it does not remove the key. */
export type StateDelta = { readonly [key: string]: Json };

/**
 * Validates a state delta and returns a copy with normalized keys. All deltas of events, JSON input and tools pass
 * through this function.
 * @throws InvalidStateKeyError if `validateStateKey` rejects a key.
 * @throws NotSerializableError if a value is not JSON.
 * @throws InvalidInputError if the delta is not an object, or if two keys have the same normal form.
 */
export function validateStateDelta(delta: unknown): StateDelta {
  if (!isJsonObject(delta)) throw new InvalidInputError('stateDelta', 'must be an object.');
  const normal = new Map<string, Json>();
  for (const [key, value] of Object.entries(delta)) {
    validateStateKey(key);
    const normalKey = normalizeStateKey(key);
    if (normal.has(normalKey)) {
      throw new InvalidInputError(
        `stateDelta[${JSON.stringify(key)}]`,
        'occurs twice, with and without the prefix "session:".',
      );
    }
    normal.set(normalKey, copyValue(value, key));
  }
  return Object.fromEntries(normal);
}

// Copies the value, so that later changes by the caller do not affect it.
function copyValue(value: unknown, key: string): Json {
  const what = `stateDelta[${JSON.stringify(key)}]`;
  return decodeJson(encodeJson(value, what), what);
}
