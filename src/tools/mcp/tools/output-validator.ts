import type { ClientOptions, JsonSchemaValidator } from '@modelcontextprotocol/client';
import { isJsonObject } from '../../../core/index.ts';
import { createJsonSchemaValidator } from '../../schema/json-schema-parser.ts';
import { plainJson } from '../vocabulary/plain-json.ts';

/**
 * Validates the structured content of results. The default validator of the MCP package would run
 * the server's patterns with RegExp, which can block the process.
 */
export const outputValidator: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator<T>(schema: unknown): JsonSchemaValidator<T> {
    const validate = createOutputValidator(schema, 'result');
    return (input) => {
      const [issue] = validate(input);
      if (issue !== undefined) {
        const errorMessage = [issue.path.join('.'), issue.message].filter(Boolean).join(': ');
        return { valid: false, data: undefined, errorMessage };
      }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was just validated by the schema of T
      return { valid: true, data: input as T, errorMessage: undefined };
    };
  },
};

/**
 * Creates the validator of a tool's output schema.
 * @throws InvalidToolError if the schema cannot be used
 */
export function createOutputValidator(
  schema: unknown,
  toolName: string,
): ReturnType<typeof createJsonSchemaValidator> {
  const json = plainJson(schema, 'outputSchema');
  return createJsonSchemaValidator(isJsonObject(json) ? json : {}, toolName, 'its output schema');
}
