import { omitUndefined } from '../../core/internal.ts';
import { canonicalJson, isJsonObject, type Json } from '../../core/index.ts';
import type { JsonSchema } from '../model/tool-declaration.ts';
import { resolveRef } from './dereference.ts';
import {
  getBranches,
  mapSubschemas,
  getProperties,
  getRequired,
  getTypes,
  without,
} from './subschemas.ts';

/**
 * Converts a schema to one whose top level is an object with all its properties in one list, as
 * providers require. Alternatives at the top level become one object with the properties of all,
 * which requires what all of them require. That is wider than the original, which still validates.
 * Keywords that no provider reads are dropped.
 */
export function toObjectRoot(schema: JsonSchema): JsonSchema {
  const merged = merge(schema, { root: schema, left: MAX_MERGED }, 0);
  // An object without properties accepts any member, but providers require a list of properties.
  const open = { additionalProperties: true, ...merged, properties: {} };
  return tidy({ ...(isJsonObject(merged['properties']) ? merged : open), type: 'object' });
}

const COMBINING_KEYWORDS: readonly string[] = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  '$ref',
];
const MAX_MERGE_DEPTH = 10;
/** Nested alternatives with references would otherwise multiply. */
const MAX_MERGED = 1_000;

interface Merging {
  readonly root: JsonSchema;
  left: number;
}

function merge(schema: JsonSchema, merging: Merging, depth: number): JsonSchema {
  const { $ref: ref } = schema;
  const target = typeof ref === 'string' ? resolveRef(merging.root, ref) : undefined;
  const all = [...getBranches(schema, 'allOf'), ...(target === undefined ? [] : [target])];
  const any = [...getBranches(schema, 'anyOf'), ...getBranches(schema, 'oneOf')];
  const own = without(schema, COMBINING_KEYWORDS);
  merging.left -= 1;
  if ((all.length === 0 && any.length === 0) || depth > MAX_MERGE_DEPTH) return own;
  if (merging.left < 0) return own;
  const flat = (branch: JsonSchema): JsonSchema => merge(branch, merging, depth + 1);
  const both = [own, ...all.map(flat)];
  const either = any.map(flat).filter(isObjectSchema);
  const required = [...both.flatMap(getRequired), ...intersect(either.map(getRequired))];
  return {
    ...without(Object.fromEntries(both.toReversed().flatMap((one) => Object.entries(one))), [
      'additionalProperties',
    ]),
    ...closedIn(both, either),
    properties: mergedProperties([...both, ...either]),
    ...omitUndefined({ required: required.length > 0 ? [...new Set(required)] : undefined }),
  };
}

function isObjectSchema(schema: JsonSchema): boolean {
  return getTypes(schema).includes('object') || isJsonObject(schema['properties']);
}

function mergedProperties(schemas: readonly JsonSchema[]): JsonSchema {
  const found = new Map<string, Map<string, JsonSchema>>();
  for (const [name, property] of schemas.flatMap((one) => Object.entries(getProperties(one)))) {
    const options = found.get(name) ?? new Map<string, JsonSchema>();
    found.set(name, options);
    for (const option of isMerged(property) ? getBranches(property, 'anyOf') : [property]) {
      const text = canonicalJson(option);
      if (!options.has(text)) options.set(text, option);
    }
  }
  return Object.fromEntries(
    [...found].map(([name, options]) => [name, unionSchema([...options.values()])]),
  );
}

function unionSchema(options: readonly JsonSchema[]): JsonSchema {
  const [first = {}, ...rest] = options;
  return rest.length === 0 ? first : { anyOf: options };
}

function isMerged(schema: JsonSchema): boolean {
  return Object.keys(schema).join() === 'anyOf';
}

// Closed only if every alternative is closed: then all their properties are known.
function closedIn(both: readonly JsonSchema[], either: readonly JsonSchema[]): JsonSchema {
  const isClosed = (one: JsonSchema): boolean => one['additionalProperties'] === false;
  const closed = either.length > 0 ? either.every(isClosed) : both.every(isClosed);
  return closed ? { additionalProperties: false } : {};
}

function intersect(lists: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...rest] = lists;
  return first.filter((name) => rest.every((list) => list.includes(name)));
}

const UNREAD: readonly string[] = ['$schema', '$id', '$comment', '$anchor', '$vocabulary'];

function tidy(schema: JsonSchema): JsonSchema {
  const inner = mapSubschemas(without(schema, UNREAD), tidy);
  const { properties } = inner;
  if (!isJsonObject(properties)) return inner;
  const required: Json = getRequired(inner).filter((name) => name in properties);
  return {
    ...omitUndefined({ type: inner['type'] === undefined ? 'object' : undefined }),
    ...without(inner, ['required']),
    ...omitUndefined({ required: required.length > 0 ? required : undefined }),
  };
}
