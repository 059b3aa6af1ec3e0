import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from '../../models/index.ts';
import { createJsonSchemaParser } from './json-schema-parser.ts';
import { isStandardSchema, type ToolParameters } from './tool-parameters.ts';
import { acceptArgs, AsyncSchemaError, rejectArgs, type ArgsParser } from './parsed-args.ts';

/**
 * Creates the parser of a tool's arguments. It validates by the tool's original schema; `schema`,
 * which the model sees, is used only if the original is a JSON Schema.
 * @throws InvalidToolError if a JSON Schema is not valid, for example has a reference that leads
 *   outside it
 */
export function createArgsParser(
  parameters: ToolParameters,
  schema: JsonSchema,
  toolName: string,
): ArgsParser {
  return isStandardSchema(parameters)
    ? standardSchemaParser(parameters, toolName)
    : createJsonSchemaParser(schema, toolName);
}

function standardSchemaParser(schema: StandardSchemaV1, toolName: string): ArgsParser {
  return (args) => {
    const result = schema['~standard'].validate(args);
    if (result instanceof Promise) {
      // No caller awaits this promise; its rejection must not end the process.
      result.catch(() => undefined);
      const error = new AsyncSchemaError(toolName);
      return { ok: false, message: error.message, error };
    }
    return result.issues === undefined
      ? acceptArgs(result.value)
      : rejectArgs(result.issues.map(toIssue));
  };
}

function toIssue({ message, path = [] }: StandardSchemaV1.Issue): {
  readonly path: readonly PropertyKey[];
  readonly message: string;
} {
  return { message, path: path.map((key) => (typeof key === 'object' ? key.key : key)) };
}
