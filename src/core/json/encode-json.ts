import { isPlainObject, type Json } from './json.ts';
import { memberPath } from '../errors/member-path.ts';
import { NotSerializableError } from '../errors/not-serializable-error.ts';
import { PetrichorError } from '../errors/petrichor-error.ts';

/** Deeper trees are refused: `JSON.stringify` itself overflows the stack a few thousand levels down. */
export const MAX_JSON_DEPTH = 500;

/**
 * Writes a value as JSON, or refuses it. Unlike `JSON.stringify` nothing is silently lost:
 * functions, symbols, bigints, NaN, infinities, holes and `undefined` in arrays, cycles, bytes, maps, sets and
 * instances of classes are refused. An `undefined` member of an object is left out, as a reader could not tell
 * it from a missing one. A `toJSON` method is honoured, so a `Date` becomes its ISO string.
 * @param what names the value in the error, for example `result`.
 * @throws NotSerializableError naming the path.
 */
export function encodeJson(value: unknown, what: string): string {
  if (value === undefined || !isSerializable(value, 0)) assertSerializable(value, what, []);
  return JSON.stringify(value);
}

/** Text that was to be JSON is not. It came from outside, or from a damaged file. */
export class InvalidJsonError extends PetrichorError {
  override readonly code = 'invalid_json' as const;
  readonly what: string;

  constructor(what: string, cause: unknown) {
    super(`${what} is not valid JSON: check where it was written.`, { cause });
    this.what = what;
  }
}

/**
 * Reads JSON text.
 * @param what names the text in the error.
 * @throws InvalidJsonError
 */
export function decodeJson(text: string, what: string): Json {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch (error) {
    throw new InvalidJsonError(what, error);
  }
}

/**
 * Writes a value as JSON with the members of every object sorted by UTF-16 code unit, so that equal values give equal text.
 * Fingerprints are made from it. Refuses what `encodeJson` refuses.
 * @throws NotSerializableError
 */
export function canonicalJson(value: unknown, what = 'value'): string {
  return canonical(decodeJson(encodeJson(value, what), what));
}

function canonical(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`;
}

// The fast walk only answers yes or no and keeps no path and no set of ancestors: it runs for every token.
// A cycle shows as too great a depth. Only a refusal pays for finding out where and why.
function isSerializable(value: unknown, depth: number): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'object' && isSerializableObject(value, depth);
}

function isSerializableObject(value: object, depth: number): boolean {
  if (depth >= MAX_JSON_DEPTH) return false;
  if (Array.isArray(value)) {
    // By index, not `every`: that would skip holes.
    for (let i = 0; i < value.length; i++) {
      if (!isSerializable(value[i], depth + 1)) return false;
    }
    return true;
  }
  if (hasToJson(value)) return !isLossy(value) && isSerializable(value.toJSON(), depth + 1);
  if (!isPlainObject(value)) return false;
  // Not Object.values: it allocates, and takes three times as long.
  for (const key in value) {
    const member = value[key];
    if (member !== undefined && !isSerializable(member, depth + 1)) return false;
  }
  return true;
}

function hasToJson(value: object): value is { toJSON: () => unknown } {
  return typeof (value as { toJSON?: unknown }).toJSON === 'function';
}

// Both have a toJSON, and both of those would write something nobody meant: null, and a list of numbers.
function isLossy(value: object): boolean {
  return (value instanceof Date && Number.isNaN(value.getTime())) || ArrayBuffer.isView(value);
}

/** Walks again, keeping the path, to the first thing that is refused. */
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
  if (value === undefined) return ['undefined', 'use null, or leave it out'];
  if (typeof value === 'function') return ['a function', 'return data, not behaviour'];
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
