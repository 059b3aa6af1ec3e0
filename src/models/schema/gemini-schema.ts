import { omitUndefined } from '../../core/internal.ts';
import { isJsonObject, type Json } from '../../core/index.ts';
import type { JsonSchema } from '../model/tool-declaration.ts';
import { addToDescription, describeDropped } from './describe-dropped.ts';
import {
  getBranches,
  isList,
  mapSubschemas,
  getProperties,
  getRequired,
  getTypes,
  without,
} from './subschemas.ts';

const JSON_SCHEMA_KEYWORDS: ReadonlySet<string> = new Set(
  'type title description enum format items prefixItems minItems maxItems minimum maximum anyOf properties additionalProperties required propertyOrdering'.split(
    ' ',
  ),
);

const OPENAPI_KEYWORDS: ReadonlySet<string> = new Set(
  'type title description enum format items minItems maxItems minimum maximum minLength maxLength pattern minProperties maxProperties anyOf properties required nullable propertyOrdering'.split(
    ' ',
  ),
);

/** Converts a schema without references to Gemini's JSON Schema field. */
export function toGeminiSchema(schema: JsonSchema): JsonSchema {
  const inner = mapSubschemas(mergeAllOfBranches(schema), toGeminiSchema);
  const { enum: values } = constAsEnum(inner);
  const converted = describeDropped(replaceOneOfKeyword(constAsEnum(inner)), (keyword) =>
    JSON_SCHEMA_KEYWORDS.has(keyword),
  );
  // An enum may contain only strings and numbers.
  const fits = !isList(values) || values.every((v) => ['string', 'number'].includes(typeof v));
  return fits
    ? converted
    : addToDescription(without(converted, ['enum']), `one of: ${JSON.stringify(values)}`);
}

/**
 * Converts a schema without references to Gemini's older OpenAPI field. Enum values that are not
 * strings become strings, so arguments must be restored by the original schema.
 */
export function toGeminiOpenApiSchema(schema: JsonSchema): JsonSchema {
  const inner = mapSubschemas(mergeAllOfBranches(schema), toGeminiOpenApiSchema);
  const single = singleType(replaceOneOfKeyword(constAsEnum(inner)));
  const converted = describeDropped(single, (keyword) => OPENAPI_KEYWORDS.has(keyword));
  const values = converted['enum'];
  const listed = isList(values)
    ? { ...converted, type: 'string', enum: values.filter((v) => v !== null).map(String) }
    : converted;
  const map = inner['additionalProperties'];
  return isJsonObject(map) || isJsonObject(inner['patternProperties'])
    ? addToDescription(listed, 'an object with further members of any name')
    : listed;
}

function constAsEnum(schema: JsonSchema): JsonSchema {
  const { const: value } = schema;
  return value === undefined ? schema : { ...without(schema, ['const']), enum: [value] };
}

function replaceOneOfKeyword(schema: JsonSchema): JsonSchema {
  const { oneOf, anyOf } = schema;
  if (!isList(oneOf)) return schema;
  return { ...without(schema, ['oneOf']), anyOf: isList(anyOf) ? [...anyOf, ...oneOf] : oneOf };
}

function singleType(schema: JsonSchema): JsonSchema {
  const types = getTypes(schema);
  const options = getBranches(schema, 'anyOf').filter((one) => getTypes(one).join() !== 'null');
  const hadNullOption = options.length < getBranches(schema, 'anyOf').length;
  const nullable = types.includes('null') || hadNullOption || hasNullValue(schema);
  const rest = types.filter((type) => type !== 'null');
  const [type] = rest;
  return {
    ...without(schema, ['type', 'anyOf']),
    ...(options.length === 1 && options[0]),
    ...omitUndefined({ anyOf: options.length > 1 ? options : undefined }),
    ...(rest.length > 1 && { anyOf: rest.map((one) => ({ type: one })) }),
    ...omitUndefined({
      type: rest.length === 1 && type !== undefined ? type : undefined,
      nullable: nullable ? true : undefined,
    }),
  };
}

function hasNullValue({ enum: values }: JsonSchema): boolean {
  return isList(values) && values.includes(null);
}

// Conflicting keywords cannot be combined: the first schema wins, and the original schema still
// validates.
function mergeAllOfBranches(schema: JsonSchema): JsonSchema {
  const parts = getBranches(schema, 'allOf').map(mergeAllOfBranches);
  if (parts.length === 0) return schema;
  const all = [without(schema, ['allOf']), ...parts];
  const properties: Json = Object.fromEntries(
    all.flatMap((one) => Object.entries(getProperties(one))),
  );
  const required = [...new Set(all.flatMap(getRequired))];
  return {
    ...Object.fromEntries(all.toReversed().flatMap((one) => Object.entries(one))),
    ...omitUndefined({
      properties: Object.keys(properties).length > 0 ? properties : undefined,
      required: required.length > 0 ? required : undefined,
    }),
  };
}
