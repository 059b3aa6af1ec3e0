import { decodeJson, encodeJson, PetrichorError } from '../../core/index.ts';
import type { JsonSchema } from '../../models/index.ts';
import { InvalidToolError } from './invalid-tool-error.ts';
import { acceptArgs, rejectArgs, type ArgsIssue, type ArgsParser } from './parsed-args.ts';
import { validateValue, SchemaTooCostlyError } from './validate-value.ts';
import { prepareSchema, type PreparedSchema } from './prepared-schema.ts';

/**
 * Judges arguments by a JSON Schema of draft 4, 7, 2019-09 or 2020-12, as its `$schema` says; 2020-12 when it says nothing.
 * @throws InvalidToolError when the schema is too large or too deep, a pattern cannot run in linear time, or a reference
 * leads out of the schema, to nothing or back to itself: nothing is fetched.
 */
export function createJsonSchemaParser(jsonSchema: JsonSchema, toolName: string): ArgsParser {
  const validate = createJsonSchemaValidator(jsonSchema, toolName);
  return (args) => {
    const issues = validate(args);
    return issues.length === 0 ? acceptArgs(args) : rejectArgs(issues);
  };
}

/** Tells what is wrong with a value, by a JSON Schema as above; nothing is, when the list is empty. @throws InvalidToolError */
export function createJsonSchemaValidator(
  jsonSchema: JsonSchema,
  toolName: string,
  what = 'its parameters',
): (value: unknown) => readonly ArgsIssue[] {
  const schema = prepareToolSchema(jsonSchema, toolName, what);
  return (value) => {
    try {
      return validateValue(decodeJson(encodeJson(value, 'value'), 'value'), schema);
    } catch (error) {
      if (!(error instanceof SchemaTooCostlyError)) throw error;
      return [{ path: [], message: 'takes too many steps to judge by its schema: send less' }];
    }
  };
}

function prepareToolSchema(jsonSchema: JsonSchema, toolName: string, what: string): PreparedSchema {
  try {
    return prepareSchema(jsonSchema);
  } catch (cause) {
    if (!(cause instanceof PetrichorError)) throw cause;
    const problem = `${what} cannot be used as a JSON Schema: ${cause.message}`;
    throw new InvalidToolError(toolName, problem, { cause });
  }
}
