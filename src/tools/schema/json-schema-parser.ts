import { decodeJson, encodeJson, PetrichorError } from '../../core/index.ts';
import type { JsonSchema } from '../../models/index.ts';
import { InvalidToolError } from './invalid-tool-error.ts';
import { acceptArgs, rejectArgs, type ArgsIssue, type ArgsParser } from './parsed-args.ts';
import { validateValue, SchemaTooCostlyError } from './validate-value.ts';
import { prepareSchema, type PreparedSchema } from './prepared-schema.ts';

/**
 * Creates a parser that validates arguments by a JSON Schema of draft 4, 7, 2019-09 or 2020-12.
 * `$schema` selects the draft. Default: 2020-12. References are resolved inside the schema only;
 * nothing is fetched.
 * @throws InvalidToolError if the schema is too large or too deep, a pattern cannot run in linear
 *   time, or a reference leads outside the schema, to nothing, or back to itself
 */
export function createJsonSchemaParser(jsonSchema: JsonSchema, toolName: string): ArgsParser {
  const validate = createJsonSchemaValidator(jsonSchema, toolName);
  return (args) => {
    const issues = validate(args);
    return issues.length === 0 ? acceptArgs(args) : rejectArgs(issues);
  };
}

/**
 * Creates a validator that returns the issues of a value, by a JSON Schema as above. A valid value
 * has none.
 * @throws InvalidToolError
 */
export function createJsonSchemaValidator(
  jsonSchema: JsonSchema,
  toolName: string,
  subject = 'its parameters',
): (value: unknown) => readonly ArgsIssue[] {
  const schema = prepareToolSchema(jsonSchema, toolName, subject);
  return (value) => {
    try {
      return validateValue(decodeJson(encodeJson(value, 'value'), 'value'), schema);
    } catch (error) {
      if (!(error instanceof SchemaTooCostlyError)) throw error;
      return [
        { path: [], message: 'takes too many steps to validate by its schema. Send less data' },
      ];
    }
  };
}

function prepareToolSchema(
  jsonSchema: JsonSchema,
  toolName: string,
  subject: string,
): PreparedSchema {
  try {
    return prepareSchema(jsonSchema);
  } catch (cause) {
    if (!(cause instanceof PetrichorError)) throw cause;
    const problem = `${subject} cannot be used as a JSON Schema: ${cause.message}`;
    throw new InvalidToolError(toolName, problem, { cause });
  }
}
