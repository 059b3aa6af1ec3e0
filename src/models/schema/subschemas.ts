import { isJsonObject, type Json, type JsonObject } from '../../core/index.ts';
import type { JsonSchema } from '../model/tool-declaration.ts';

const ONE: ReadonlySet<string> = new Set(
  'additionalItems additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems unevaluatedProperties'.split(
    ' ',
  ),
);
const LIST: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']);
const MAP: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/** Replaces every schema directly inside a schema. Boolean schemas are left unchanged. */
export function mapSubschemas(
  schema: JsonSchema,
  map: (subschema: JsonSchema) => Json,
): JsonSchema {
  return mapMembers(schema, (value, keyword) => {
    if (MAP.has(keyword) && isJsonObject(value)) return mapMembers(value, mapOne);
    if (LIST.has(keyword) && isList(value)) return value.map(mapOne);
    return ONE.has(keyword) ? mapOne(value) : value;
  });

  function mapOne(value: Json): Json {
    return isJsonObject(value) ? map(value) : value;
  }
}

/** Maps the members of an object, and drops those that become undefined. */
export function mapMembers(
  object: JsonObject,
  map: (value: Json, key: string) => Json | undefined,
): JsonObject {
  const members = Object.entries(object).map(([key, value]) => [key, map(value, key)] as const);
  return Object.fromEntries(members.filter(isKept));
}

function isKept(member: readonly [string, Json | undefined]): member is readonly [string, Json] {
  return member[1] !== undefined;
}

/** A copy without some keywords. */
export function without(schema: JsonSchema, keywords: readonly string[]): JsonSchema {
  return mapMembers(schema, (value, key) => (keywords.includes(key) ? undefined : value));
}

/** The schemas of the properties by name. A schema `true` becomes `{}`. */
export function getProperties(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  const { properties } = schema;
  if (!isJsonObject(properties)) return {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, asSchema(value)]),
  );
}

export function getRequired(schema: JsonSchema): readonly string[] {
  return readStrings(schema['required']);
}

/** The schemas of a keyword that contains a list of schemas. */
export function getBranches(
  schema: JsonSchema,
  keyword: 'allOf' | 'anyOf' | 'oneOf',
): readonly JsonSchema[] {
  const branches = schema[keyword];
  return isList(branches) ? branches.map(asSchema) : [];
}

/** The types of a schema; empty if it has no `type`. */
export function getTypes(schema: JsonSchema): readonly string[] {
  const { type } = schema;
  return typeof type === 'string' ? [type] : readStrings(type);
}

/** A boolean schema as an object: `true` allows anything, `false` nothing. */
export function asSchema(value: Json): JsonSchema {
  if (isJsonObject(value)) return value;
  return value === false ? { not: {} } : {};
}

// Array.isArray alone does not narrow a readonly array out of a union.
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function readStrings(value: Json | undefined): readonly string[] {
  return isList(value) ? value.filter((item) => typeof item === 'string') : [];
}
