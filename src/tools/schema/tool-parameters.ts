import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonObject } from '../../core/index.ts';
import type { JsonSchema } from '../../models/index.ts';

/**
 * The parameters of a tool: a schema of any library that implements Standard Schema, or a JSON
 * Schema.
 */
export type ToolParameters = StandardSchemaV1 | JsonSchema;

/**
 * The type of `execute`'s arguments for parameters `S`: the output of the schema, or plain JSON.
 */
export type InferArgs<S> = S extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<S>
  : JsonObject;

/** True for a schema of a library. Some of those are functions. */
export function isStandardSchema(parameters: ToolParameters): parameters is StandardSchemaV1 {
  return '~standard' in parameters;
}
