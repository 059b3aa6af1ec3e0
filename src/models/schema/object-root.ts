import { canonicalJson, isJsonObject, type Json } from '../../core/index.ts';
import type { JsonSchema } from '../tool-declaration.ts';
import { resolveRef } from './dereference.ts';
import {
  branchesOf,
  mapSubschemas,
  propertiesOf,
  requiredOf,
  typesOf,
  without,
} from './subschemas.ts';

/**
 * A schema whose top level is an object with all its properties in one list, as every provider wants the arguments of a
 * tool. Alternatives at the top become one object that has the properties of all, and requires what all require: that is
 * wider than the original, which still judges. Inside, what no provider reads is dropped.
 */
export function toObjectRoot(schema: JsonSchema): JsonSchema {
  const merged = merge(schema, schema, 0);
  // An object that names no property takes any, and providers want a list of names all the same.
  const open = { additionalProperties: true, ...merged, properties: {} };
  return tidied({ ...(isJsonObject(merged['properties']) ? merged : open), type: 'object' });
}

const TOP_LEVEL_ONLY_ELSEWHERE: readonly string[] = [
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
const DEEPEST_MERGE = 10;

function merge(schema: JsonSchema, root: JsonSchema, depth: number): JsonSchema {
  const { $ref: ref } = schema;
  const target = typeof ref === 'string' ? resolveRef(root, ref) : undefined;
  const all = [...branchesOf(schema, 'allOf'), ...(target === undefined ? [] : [target])];
  const any = [...branchesOf(schema, 'anyOf'), ...branchesOf(schema, 'oneOf')];
  const own = without(schema, TOP_LEVEL_ONLY_ELSEWHERE);
  if ((all.length === 0 && any.length === 0) || depth > DEEPEST_MERGE) return own;
  const flat = (branch: JsonSchema): JsonSchema => merge(branch, root, depth + 1);
  const both = [own, ...all.map(flat)];
  const either = any.map(flat).filter(isObjectSchema);
  const required = [...both.flatMap(requiredOf), ...commonTo(either.map(requiredOf))];
  return {
    ...without(Object.fromEntries(both.toReversed().flatMap((one) => Object.entries(one))), [
      'additionalProperties',
    ]),
    ...closedIn(both, either),
    properties: mergedProperties([...both, ...either]),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}

function isObjectSchema(schema: JsonSchema): boolean {
  return typesOf(schema).includes('object') || isJsonObject(schema['properties']);
}

function mergedProperties(schemas: readonly JsonSchema[]): JsonSchema {
  const merged: Record<string, JsonSchema> = {};
  for (const [name, property] of schemas.flatMap((one) => Object.entries(propertiesOf(one)))) {
    const before = merged[name];
    merged[name] = before === undefined ? property : either(before, property);
  }
  return merged;
}

function either(a: JsonSchema, b: JsonSchema): JsonSchema {
  const options = isMerged(a) ? branchesOf(a, 'anyOf') : [a];
  if (options.some((option) => canonicalJson(option) === canonicalJson(b))) return a;
  return { anyOf: [...options, b] };
}

function isMerged(schema: JsonSchema): boolean {
  return Object.keys(schema).join() === 'anyOf';
}

// Closed only if every alternative is, as now all their properties are known.
function closedIn(both: readonly JsonSchema[], either: readonly JsonSchema[]): JsonSchema {
  const isClosed = (one: JsonSchema): boolean => one['additionalProperties'] === false;
  const closed = either.length > 0 ? either.every(isClosed) : both.every(isClosed);
  return closed ? { additionalProperties: false } : {};
}

function commonTo(lists: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...rest] = lists;
  return first.filter((name) => rest.every((list) => list.includes(name)));
}

const UNREAD: readonly string[] = ['$schema', '$id', '$comment', '$anchor', '$vocabulary'];

function tidied(schema: JsonSchema): JsonSchema {
  const inner = mapSubschemas(without(schema, UNREAD), tidied);
  const { properties } = inner;
  if (!isJsonObject(properties)) return inner;
  const required: Json = requiredOf(inner).filter((name) => name in properties);
  return {
    ...(inner['type'] === undefined && { type: 'object' }),
    ...without(inner, ['required']),
    ...(required.length > 0 && { required }),
  };
}
