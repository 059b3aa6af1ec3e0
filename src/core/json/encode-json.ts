import { isPlainObject } from './json.ts';
import { memberPath } from '../errors/member-path.ts';
import { NotSerializableError } from '../errors/not-serializable-error.ts';

/** The maximum depth of a JSON tree. `JSON.stringify` itself overflows the stack a few thousand levels down. */
export const MAX_JSON_DEPTH = 500;

/**
 * Writes a value as JSON. Unlike `JSON.stringify`, it does not lose data silently. It rejects functions, symbols,
 * bigints, NaN, infinities, holes and `undefined` in arrays, cycles, bytes, maps, sets, and instances of classes. An
 * `undefined` member of an object is omitted, because a reader cannot distinguish it from a missing one. A `toJSON`
 * method is called, so a `Date` becomes its ISO string.
 * @param what the name of the value in the error, for example `result`.
 * @throws NotSerializableError with the path of the first rejected value.
 */
export function encodeJson(value: unknown, what: string): string {
  if (value === undefined || !isSerializable(value, 0)) assertSerializable(value, what, []);
  return JSON.stringify(value);
}

// The fast check runs for every token, so it keeps no path and no set of ancestors. It detects a cycle by the depth.
// Only a rejected value pays for the search for the path and the reason.
function isSerializable(value: unknown, depth: number): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'object' && isSerializableObject(value, depth);
}

function isSerializableObject(value: object, depth: number): boolean {
  if (depth >= MAX_JSON_DEPTH) return false;
  if (Array.isArray(value)) {
    // By index, because `every` skips holes.
    for (let i = 0; i < value.length; i++) {
      if (!isSerializable(value[i], depth + 1)) return false;
    }
    return true;
  }
  if (hasToJson(value)) return !isLossy(value) && isSerializable(value.toJSON(), depth + 1);
  if (!isPlainObject(value)) return false;
  // `Object.values` allocates and takes three times as long.
  for (const key in value) {
    const member = value[key];
    if (member !== undefined && !isSerializable(member, depth + 1)) return false;
  }
  return true;
}

function hasToJson(value: object): value is { toJSON: () => unknown } {
  return typeof (value as { toJSON?: unknown }).toJSON === 'function';
}

// The `toJSON` of an invalid date gives null, and that of a Buffer a list of numbers: both lose the meaning.
function isLossy(value: object): boolean {
  return (value instanceof Date && Number.isNaN(value.getTime())) || ArrayBuffer.isView(value);
}

/** Walks the value again with the path, and throws at the first value that is rejected. */
function assertSerializable(value: unknown, path: string, ancestors: readonly object[]): void {
  const problem = findProblem(value, ancestors);
  if (problem !== undefined) throw new NotSerializableError(path, ...problem);
  if (typeof value !== 'object' || value === null) return;
  const inside = [...ancestors, value];
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++)
      assertSerializable(value[i], memberPath(path, i), inside);
  } else if (hasToJson(value)) {
    assertSerializable(value.toJSON(), path, inside);
  } else {
    for (const [key, member] of Object.entries(value)) {
      if (member !== undefined) assertSerializable(member, memberPath(path, key), inside);
    }
  }
}

type Problem = readonly [problem: string, nextStep: string];

function findProblem(value: unknown, ancestors: readonly object[]): Problem | undefined {
  if (typeof value === 'object' && value !== null) return findObjectProblem(value, ancestors);
  if (value === undefined) return ['undefined', 'use null, or omit it'];
  if (typeof value === 'function') return ['a function', 'use data instead'];
  if (typeof value === 'symbol') return ['a symbol', 'use a string'];
  if (typeof value === 'bigint') return ['a bigint', 'use a number or a string'];
  if (typeof value !== 'number' || Number.isFinite(value)) return undefined;
  return [String(value), 'use null or a string'];
}

function findObjectProblem(value: object, ancestors: readonly object[]): Problem | undefined {
  if (ancestors.includes(value)) return ['a reference to an object around it', 'break the cycle'];
  if (ancestors.length >= MAX_JSON_DEPTH) {
    return [`nested deeper than ${MAX_JSON_DEPTH} levels`, 'flatten it'];
  }
  if (ArrayBuffer.isView(value)) return ['bytes', 'encode them as base64'];
  if (isLossy(value)) return ['an invalid date', 'use null or a valid date'];
  if (Array.isArray(value) || hasToJson(value) || isPlainObject(value)) return undefined;
  return [
    `an instance of ${className(value)}`,
    'turn it into a plain object, or give it a toJSON method',
  ];
}

function className(value: object): string {
  const { constructor } = value;
  return typeof constructor === 'function' && constructor.name !== ''
    ? constructor.name
    : 'a class';
}
