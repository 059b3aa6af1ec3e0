import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { decodeJson, deepFreeze, encodeJson, isJsonObject } from '../../core/index.ts';
import type { PetrichorError, PetrichorErrorOptions } from '../../core/index.ts';
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
  return readJsonSchema(parameters, {
    subject: 'its parameters',
    members: 'the arguments',
    toError: (problem, options) => new InvalidToolError(toolName, problem, options),
  });
}

/** What a schema is for, in its errors. */
export interface SchemaUse {
  /** A plural: `its parameters`. */
  readonly subject: string;
  /** What the members of the object are: `the arguments`. */
  readonly members: string;
  readonly toError: (problem: string, options?: PetrichorErrorOptions) => PetrichorError;
}

/**
 * The input of a schema as JSON Schema, as a frozen copy.
 * @throws the error of `use` if a library schema has no JSON Schema, or it does not describe an object
 */
export function readJsonSchema(source: ToolParameters, use: SchemaUse): JsonSchema {
  const schema = plainCopy(isStandardSchema(source) ? vendorJsonSchema(source, use) : source, use);
  if (!isJsonObject(schema) || !describesObject(schema)) {
    throw use.toError(`${use.subject} must describe an object whose members are ${use.members}.`);
  }
  return deepFreeze(schema);
}

function vendorJsonSchema(schema: StandardSchemaV1, { subject, toError }: SchemaUse): unknown {
  try {
    if (offersJsonSchema(schema)) {
      return schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw toError(`${subject} have no JSON Schema (${reason}): use only types that JSON has.`, {
      cause,
    });
  }
  throw toError(`${subject} ${adviceFor(schema['~standard'].vendor)}`);
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

function plainCopy(schema: unknown, { toError }: SchemaUse): unknown {
  try {
    return decodeJson(encodeJson(schema, 'parameters'), 'parameters');
  } catch (cause) {
    throw toError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

// A schema without `type` may still describe an object through its other keywords.
function describesObject(schema: JsonSchema): boolean {
  if (schema['type'] !== undefined) return schema['type'] === 'object';
  return ['properties', 'anyOf', 'oneOf', 'allOf', '$ref'].some((keyword) => keyword in schema);
}
