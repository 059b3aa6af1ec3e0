import type { StandardSchemaV1 } from '@standard-schema/spec';
import { InvalidInputError } from '../../core/index.ts';
import type { OutputIssue } from '../../core/index.ts';
import type { JsonSchema } from '../../models/index.ts';
import { describeValue, isRecord } from '../../core/internal.ts';
import { checkSchemaKeywords } from './check-schema-keywords.ts';
import { InvalidToolError } from './invalid-tool-error.ts';
import { createJsonSchemaValidator } from './json-schema-parser.ts';
import { pathText } from './parsed-args.ts';
import { readJsonSchema } from './to-json-schema.ts';
import { isStandardSchema, type InferArgs, type ToolParameters } from './tool-parameters.ts';

/** A schema of a model's answer: what the model is told, and how its text becomes a value. */
export interface OutputSchema<T> {
  readonly jsonSchema: JsonSchema;
  readonly parse: (
    text: string,
  ) => Promise<
    | { readonly ok: true; readonly value: T }
    | { readonly ok: false; readonly issues: readonly OutputIssue[] }
  >;
}

/**
 * Prepares the schema of a model's answer. The answer is validated by the original schema.
 * @throws InvalidInputError for `output`, if it is not a schema, has no JSON Schema, or does not describe an object
 */
export function createOutputSchema<S extends ToolParameters>(
  output: S,
): OutputSchema<InferArgs<S>> {
  const isSchema = isRecord(output) || typeof output === 'function';
  if (!isSchema)
    throw new InvalidInputError(
      'output',
      `must be a schema of zod, valibot or arktype, or a JSON Schema; it is ${describeValue(output)}.`,
    );
  const jsonSchema = readJsonSchema(output, {
    subject: 'its fields',
    members: 'the fields of the answer',
    toError: (problem, options) => new InvalidInputError('output', problem, options),
  });
  const validate = createValidator(output, jsonSchema);
  return {
    jsonSchema,
    parse: async (text) => {
      const json = parseText(text);
      if (json === undefined) return { ok: false, issues: [{ path: '', message: notJson(text) }] };
      const result = await validate(json.value);
      if (result.issues !== undefined) return { ok: false, issues: result.issues.map(toIssue) };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema accepted the value
      return { ok: true, value: result.value as InferArgs<S> };
    },
  };
}

type Validate = (
  value: unknown,
) => StandardSchemaV1.Result<unknown> | Promise<StandardSchemaV1.Result<unknown>>;

function createValidator(output: ToolParameters, jsonSchema: JsonSchema): Validate {
  if (isStandardSchema(output)) return (value) => output['~standard'].validate(value);
  const issuesIn = createIssueFinder(jsonSchema);
  return (value) => {
    const issues = issuesIn(value);
    return issues.length === 0 ? { value } : { issues };
  };
}

/** @throws InvalidInputError for `output` */
function createIssueFinder(jsonSchema: JsonSchema): ReturnType<typeof createJsonSchemaValidator> {
  let issuesIn;
  try {
    issuesIn = createJsonSchemaValidator(jsonSchema, 'output');
  } catch (error) {
    if (!(error instanceof InvalidToolError)) throw error;
    const { cause } = error;
    const problem = cause instanceof Error ? cause.message.replace(/^schema: /, '') : error.message;
    throw new InvalidInputError(
      'output',
      `cannot be used as a JSON Schema: ${problem} Correct the schema.`,
      { cause: error },
    );
  }
  checkSchemaKeywords(jsonSchema, 'output');
  return issuesIn;
}

function parseText(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function notJson(text: string): string {
  return text.trim() === ''
    ? 'it is empty, and must be JSON'
    : `it is not JSON (${text.length} characters)`;
}

function toIssue({ message, path = [] }: StandardSchemaV1.Issue): OutputIssue {
  return {
    path: pathText(path.map((key) => (typeof key === 'object' ? key.key : key))),
    message,
  };
}
