import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { decodeJson, deepFreeze, encodeJson, isJsonObject } from '../../core/index.ts';
import type { JsonSchema } from '../../models/index.ts';
import { InvalidToolError } from './invalid-tool-error.ts';
import { isStandardSchema, type ToolParameters } from './tool-parameters.ts';

/**
 * The parameters of a tool as JSON Schema, as a frozen copy. A model writes arguments, so this is
 * the *input* of the schema. A library schema must implement Standard JSON Schema, as zod does from
 * 4.2.
 * @throws InvalidToolError if a library schema does not, or the schema does not describe an object
 */
export function toJsonSchema(parameters: ToolParameters, toolName: string): JsonSchema {
  const source = isStandardSchema(parameters) ? vendorJsonSchema(parameters, toolName) : parameters;
  const schema = plainCopy(source, toolName);
  if (!isJsonObject(schema) || !describesObject(schema)) {
    throw new InvalidToolError(
      toolName,
      'its parameters must describe an object whose members are the arguments.',
    );
  }
  return deepFreeze(schema);
}

function vendorJsonSchema(schema: StandardSchemaV1, toolName: string): unknown {
  try {
    if (offersJsonSchema(schema)) {
      return schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidToolError(
      toolName,
      `its parameters have no JSON Schema (${reason}): use only types that JSON has.`,
      { cause },
    );
  }
  throw new InvalidToolError(toolName, `its parameters ${adviceFor(schema['~standard'].vendor)}`);
}

function adviceFor(vendor: string): string {
  if (vendor === 'valibot') {
    return 'are a valibot schema, which has no JSON Schema: wrap it in toStandardJsonSchema() of @valibot/to-json-schema.';
  }
  if (vendor === 'zod') return 'are a zod schema without JSON Schema: use zod 4.2 or newer.';
  return `are a schema of ${vendor}, which does not implement Standard JSON Schema: use its adapter, or pass a JSON Schema.`;
}

function offersJsonSchema(
  schema: StandardSchemaV1,
): schema is StandardSchemaV1 & StandardJSONSchemaV1 {
  return 'jsonSchema' in schema['~standard'] && schema['~standard'].jsonSchema !== undefined;
}

function plainCopy(schema: unknown, toolName: string): unknown {
  try {
    return decodeJson(encodeJson(schema, 'parameters'), 'parameters');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidToolError(toolName, reason, { cause });
  }
}

// A schema without `type` may still describe an object through its other keywords.
function describesObject(schema: JsonSchema): boolean {
  if (schema['type'] !== undefined) return schema['type'] === 'object';
  return ['properties', 'anyOf', 'oneOf', 'allOf', '$ref'].some((keyword) => keyword in schema);
}
