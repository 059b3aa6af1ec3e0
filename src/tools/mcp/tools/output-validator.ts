import type { ClientOptions, JsonSchemaValidator } from '@modelcontextprotocol/client';
import { isJsonObject } from '../../../core/index.ts';
import { createJsonSchemaValidator } from '../../schema/json-schema-parser.ts';
import { plainJson } from '../vocabulary/plain-json.ts';

/** Judges the structured content of results. The package's own validator runs the server's patterns by RegExp. */
export const outputValidator: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator<T>(schema: unknown): JsonSchemaValidator<T> {
    const validate = createOutputValidator(schema, 'result');
    return (input) => {
      const [issue] = validate(input);
      if (issue !== undefined) {
        const errorMessage = [issue.path.join('.'), issue.message].filter(Boolean).join(': ');
        return { valid: false, data: undefined, errorMessage };
      }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was just judged by the schema of T
      return { valid: true, data: input as T, errorMessage: undefined };
    };
  },
};

/** Judges what a tool gives by its output schema. @throws InvalidToolError */
export function createOutputValidator(
  schema: unknown,
  toolName: string,
): ReturnType<typeof createJsonSchemaValidator> {
  const json = plainJson(schema, 'outputSchema');
  return createJsonSchemaValidator(isJsonObject(json) ? json : {}, toolName, 'its output schema');
}
