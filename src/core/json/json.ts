/** A value that survives `decodeJson(encodeJson(value))` unchanged. The journal holds nothing else. */
export type Json = null | boolean | number | string | JsonArray | JsonObject;
/** A list of JSON values. It has no holes and no `undefined`. */
export type JsonArray = readonly Json[];
/** An object literal of JSON values: no instance of a class, no `undefined` member. */
export type JsonObject = { readonly [key: string]: Json };

/** True for a JSON object: not null, not an array, not an instance of a class. */
export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && isPlainObject(value)
  );
}

/** An object literal or a null-prototype object of any realm. */
export function isPlainObject(value: object): value is Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null;
}

/**
 * Freezes a JSON tree in place and returns it.
 * Frozen values are shared between the journal, the marking and user code: none of them can change what another sees.
 * The value must be acyclic, as everything that came from `decodeJson` is.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) {
      if (typeof member === 'object' && member !== null) deepFreeze(member);
    }
    Object.freeze(value);
  }
  return value;
}
