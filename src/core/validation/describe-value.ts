const MAX_SHOWN = 60;

/** Describes a wrong value in an error message, such as `"retry"`, `5`, `a list` or `a promise`. Undefined is `missing`. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'string')
    return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (isPromise(value)) return 'a promise';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** True for a promise, and for any other object with a `then` method. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  );
}
