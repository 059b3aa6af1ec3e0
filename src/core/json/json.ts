/** A value that `decodeJson(encodeJson(value))` returns unchanged. The journal contains only such values. */
export type Json = null | boolean | number | string | JsonArray | JsonObject;
/** A list of JSON values. It has no holes and no `undefined`. */
export type JsonArray = readonly Json[];
/** An object literal of JSON values. It is not an instance of a class and has no `undefined` member. */
export type JsonObject = { readonly [key: string]: Json };

/** True for an object that is not null, not an array and not an instance of a class. Members are not checked. */
export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && isPlainObject(value)
  );
}

/** True for an object literal or an object without a prototype, of any realm. */
export function isPlainObject(value: object): value is Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null;
}

/**
 * Freezes a JSON tree in place and returns it. The journal, the marking and user code share frozen values, and none can
 * change the value of another. The value must be acyclic, as every result of `decodeJson` is.
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
