import { isJsonObject, type Json } from '../../core/index.ts';
import type { JsonSchema } from '../tool-declaration.ts';
import { describeDropped } from './describe-dropped.ts';
import { fitsStrictLimits } from './strict-limits.ts';
import {
  branchesOf,
  mapSubschemas,
  propertiesOf,
  requiredOf,
  typesOf,
  without,
} from './subschemas.ts';

/**
 * A schema as OpenAI's strict mode wants it: every object closed, every property required, what was optional may be
 * null. Nothing comes back where that cannot say the same (open maps, tuples, conditions), or the schema is too large.
 */
export function toStrictSchema(schema: JsonSchema): JsonSchema | undefined {
  return hasNoStrictForm(schema, 0) || !fitsStrictLimits(schema) ? undefined : strict(schema);
}

/** Whether strict mode takes the schema without making anything null that was optional. */
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
const DEEPEST = 10;

function hasNoStrictForm(schema: JsonSchema, depth: number): boolean {
  const isObject = typesOf(schema).includes('object') || isJsonObject(schema['properties']);
  // An object that names no property is an open map, whatever else is said of it.
  const isMap =
    isJsonObject(schema['additionalProperties']) ||
    (schema['additionalProperties'] !== false && isObject && schema['properties'] === undefined) ||
    schema['additionalProperties'] === true;
  const isTuple = Array.isArray(schema['items']);
  const isAnything = saysNothing(schema);
  if (depth > DEEPEST || isMap || isTuple || isAnything) return true;
  if (CONDITIONS.some((keyword) => keyword in schema)) return true;
  return subschemasOf(schema).some((one) => hasNoStrictForm(one, depth + (isObject ? 1 : 0)));
}

function saysNothing(schema: JsonSchema): boolean {
  return !['type', 'anyOf', 'oneOf', 'enum', 'const', '$ref', 'properties'].some(
    (keyword) => keyword in schema,
  );
}

function allRequired(schema: JsonSchema): boolean {
  const required = new Set(requiredOf(schema));
  return (
    Object.keys(propertiesOf(schema)).every((name) => required.has(name)) &&
    subschemasOf(schema).every(allRequired)
  );
}

function subschemasOf(schema: JsonSchema): readonly JsonSchema[] {
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

function strict(schema: JsonSchema): JsonSchema {
  const required = new Set(requiredOf(schema));
  const { oneOf, ...rest } = mapSubschemas(schema, strict);
  // Strict mode has no word for "exactly one", and the original still judges.
  const anyOf: Json | undefined = oneOf ?? rest['anyOf'];
  const plain = describeDropped({ ...rest, ...(anyOf !== undefined && { anyOf }) }, (keyword) =>
    STRICT_KEYWORDS.has(keyword),
  );
  if (!isJsonObject(plain['properties'])) return plain;
  const properties = Object.entries(propertiesOf(plain)).map(
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
  const types = typesOf(schema);
  if (types.includes('null')) return schema;
  if (branchesOf(schema, 'anyOf').some((branch) => typesOf(branch).includes('null'))) return schema;
  const simple = !['enum', 'const', 'anyOf', '$ref', 'properties'].some((key) => key in schema);
  if (simple && types.length > 0) return { ...schema, type: [...types, 'null'] };
  const { description } = schema;
  const said = description === undefined ? {} : { description };
  return { anyOf: [without(schema, ['description']), { type: 'null' }], ...said };
}
