import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { decodeJson, deepFreeze, encodeJson, isJsonObject } from '../../core/index.ts';
import type { JsonSchema } from '../../models/index.ts';
import { InvalidToolError } from './invalid-tool-error.ts';
import { isStandardSchema, type ToolParameters } from './tool-parameters.ts';

/**
 * The parameters of a tool as JSON Schema, as a frozen copy: what a model may write, so the *input* of the schema.
 * It is the vendor's own Standard JSON Schema, which zod has from 4.2 on.
 * @throws InvalidToolError when a library offers neither, or the schema is not one of an object.
 */
export function toJsonSchema(parameters: ToolParameters, toolName: string): JsonSchema {
  const source = isStandardSchema(parameters) ? vendorJsonSchema(parameters, toolName) : parameters;
  const schema = plainCopy(source, toolName);
  if (!isJsonObject(schema) || !describesObject(schema)) {
    throw new InvalidToolError(
      toolName,
      'its parameters must describe an object, whose members are the arguments by name.',
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
      `its parameters have no JSON Schema (${reason}): describe them by types that JSON has.`,
      { cause },
    );
  }
  throw new InvalidToolError(toolName, `its parameters ${adviceFor(schema['~standard'].vendor)}`);
}

function adviceFor(vendor: string): string {
  if (vendor === 'valibot') {
    return 'are of valibot, which tells no JSON Schema by itself: wrap them in toStandardJsonSchema() of @valibot/to-json-schema.';
  }
  if (vendor === 'zod') return 'are of a zod that tells no JSON Schema: use zod 4.2 or newer.';
  return `are of ${vendor}, which does not implement Standard JSON Schema: use its adapter, or pass a JSON Schema.`;
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

// Without a `type`, a schema may still describe an object by what it is put together from.
function describesObject(schema: JsonSchema): boolean {
  if (schema['type'] !== undefined) return schema['type'] === 'object';
  return ['properties', 'anyOf', 'oneOf', 'allOf', '$ref'].some((keyword) => keyword in schema);
}
