/** True for any object, arrays and instances of classes included. Members are not checked. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** True for an object that is not an array. Members are not checked. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !Array.isArray(value);
}

/** Returns the value of a key, and undefined if only the prototype of the object has the key, as it has `constructor`. */
export function readOwn<T>(entries: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(entries, key) ? entries[key] : undefined;
}

/** Returns a member of an object, and undefined for every other value. */
export function readMember(value: unknown, key: string): unknown {
  return isObject(value) ? Reflect.get(value, key) : undefined;
}
