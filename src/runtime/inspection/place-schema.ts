import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import type * as v from 'valibot';
import { isJsonObject } from '../../core/internal.ts';
import { decodeJson, encodeJson } from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';

/**
 * Returns the function that converts the schema of a place. It returns undefined for a schema that JSON Schema cannot
 * express. The converter of valibot is loaded only here, because only an inspection needs it.
 */
export async function schemaConverter(): Promise<
  (schema: StandardSchemaV1 | undefined) => JsonObject | undefined
> {
  const { toJsonSchema } = await import('@valibot/to-json-schema');
  const convert = (schema: StandardSchemaV1): unknown => {
    if (offersJsonSchema(schema)) {
      return schema['~standard'].jsonSchema.output({ target: 'draft-2020-12' });
    }
    return isValibot(schema)
      ? toJsonSchema(schema, { target: 'draft-2020-12', errorMode: 'ignore' })
      : undefined;
  };
  return (schema) => {
    if (schema === undefined) return undefined;
    try {
      const { $schema: _, ...converted } = asObject(convert(schema));
      return Object.keys(converted).length > 0 ? converted : undefined;
    } catch {
      // A schema without JSON Schema is not an error: the place is described without it.
      return undefined;
    }
  };
}

function asObject(converted: unknown): JsonObject {
  const json = converted === undefined ? {} : decodeJson(encodeJson(converted, 'schema'), 'schema');
  return isJsonObject(json) ? json : {};
}

function offersJsonSchema(
  schema: StandardSchemaV1,
): schema is StandardSchemaV1 & StandardJSONSchemaV1 {
  return 'jsonSchema' in schema['~standard'] && schema['~standard'].jsonSchema !== undefined;
}

function isValibot(
  schema: StandardSchemaV1,
): schema is StandardSchemaV1 & v.GenericSchema<unknown, unknown> {
  return schema['~standard'].vendor === 'valibot' && 'kind' in schema;
}
