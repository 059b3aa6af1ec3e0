import { omitUndefined } from '../../core/internal.ts';
import { isJsonObject, type Json } from '../../core/index.ts';
import type { JsonSchema } from '../model/tool-declaration.ts';
import { describeDropped } from './describe-dropped.ts';
import { fitsStrictLimits } from './strict-limits.ts';
import {
  getBranches,
  mapSubschemas,
  getProperties,
  getRequired,
  getTypes,
  without,
} from './subschemas.ts';

/**
 * Converts a schema to OpenAI's strict mode: every object is closed, every property required, and
 * optional properties may be null. Returns undefined if strict mode cannot express it (open maps,
 * tuples, conditions), or the schema is too large.
 */
export function toStrictSchema(schema: JsonSchema): JsonSchema | undefined {
  return hasNoStrictForm(schema, 0) || !fitsStrictLimits(schema) ? undefined : toStrict(schema);
}

/** Whether strict mode accepts the schema without making optional properties nullable. */
export function isStrictAsItIs(schema: JsonSchema): boolean {
  return !hasNoStrictForm(schema, 0) && allRequired(schema);
}

const CONDITIONS: readonly string[] = [
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'prefixItems',
  'propertyNames',
  'contains',
  'unevaluatedProperties',
  'unevaluatedItems',
];
const MAX_DEPTH = 10;

function hasNoStrictForm(schema: JsonSchema, depth: number): boolean {
  const isObject = getTypes(schema).includes('object') || isJsonObject(schema['properties']);
  // An object without properties is an open map, whatever its other keywords.
  const isMap =
    isJsonObject(schema['additionalProperties']) ||
    (schema['additionalProperties'] !== false && isObject && schema['properties'] === undefined) ||
    schema['additionalProperties'] === true;
  const isTuple = Array.isArray(schema['items']);
  const isAnything = isUnconstrained(schema);
  if (depth > MAX_DEPTH || isMap || isTuple || isAnything) return true;
  if (CONDITIONS.some((keyword) => keyword in schema)) return true;
  return listSubschemas(schema).some((one) => hasNoStrictForm(one, depth + (isObject ? 1 : 0)));
}

function isUnconstrained(schema: JsonSchema): boolean {
  return !['type', 'anyOf', 'oneOf', 'enum', 'const', '$ref', 'properties'].some(
    (keyword) => keyword in schema,
  );
}

function allRequired(schema: JsonSchema): boolean {
  const required = new Set(getRequired(schema));
  return (
    Object.keys(getProperties(schema)).every((name) => required.has(name)) &&
    listSubschemas(schema).every(allRequired)
  );
}

function listSubschemas(schema: JsonSchema): readonly JsonSchema[] {
  const found: JsonSchema[] = [];
  mapSubschemas(schema, (one) => {
    found.push(one);
    return one;
  });
  return found;
}

const STRICT_KEYWORDS: ReadonlySet<string> = new Set(
  '$ref $defs definitions type title description enum const anyOf items properties required additionalProperties pattern format multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems'.split(
    ' ',
  ),
);

function toStrict(schema: JsonSchema): JsonSchema {
  const required = new Set(getRequired(schema));
  const { oneOf, ...rest } = mapSubschemas(schema, toStrict);
  // Strict mode cannot express "exactly one"; the original schema still validates.
  const alternatives: Json | undefined = oneOf ?? rest['anyOf'];
  const plain = describeDropped({ ...rest, ...omitUndefined({ anyOf: alternatives }) }, (keyword) =>
    STRICT_KEYWORDS.has(keyword),
  );
  if (!isJsonObject(plain['properties'])) return plain;
  const properties = Object.entries(getProperties(plain)).map(
    ([name, property]) => [name, required.has(name) ? property : nullable(property)] as const,
  );
  return {
    ...plain,
    properties: Object.fromEntries(properties),
    required: properties.map(([name]) => name),
    additionalProperties: false,
  };
}

function nullable(schema: JsonSchema): JsonSchema {
  const types = getTypes(schema);
  if (types.includes('null')) return schema;
  if (getBranches(schema, 'anyOf').some((branch) => getTypes(branch).includes('null')))
    return schema;
  const simple = !['enum', 'const', 'anyOf', '$ref', 'properties'].some((key) => key in schema);
  if (simple && types.length > 0) return { ...schema, type: [...types, 'null'] };
  const { description } = schema;
  const rest = description === undefined ? {} : { description };
  return { anyOf: [without(schema, ['description']), { type: 'null' }], ...rest };
}
