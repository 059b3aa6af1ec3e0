import * as v from 'valibot';
import { isJsonObject, type Json, type JsonObject } from '../../../core/index.ts';
import { createJsonSchemaValidator } from '../../schema/json-schema-parser.ts';
import type { ArgsIssue } from '../../schema/parsed-args.ts';
import type { McpElicitationResult } from '../vocabulary/mcp-options.ts';

const contentSchema = v.record(
  v.string(),
  v.union([v.string(), v.number(), v.boolean(), v.array(v.string())]),
);

const answerSchema = v.object({
  action: v.picklist(['accept', 'decline', 'cancel']),
  content: v.optional(contentSchema),
});

function issueText({ path, message }: ArgsIssue): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}

/** Adds the defaults of missing members to the content. */
function withDefaults(content: Json, { properties }: JsonObject): Json {
  if (!isJsonObject(content) || !isJsonObject(properties)) return content;
  const defaults = Object.entries(properties).flatMap(([name, member]) =>
    isJsonObject(member) && member['default'] !== undefined
      ? [[name, member['default']] as const]
      : [],
  );
  return { ...Object.fromEntries(defaults), ...content };
}

/**
 * Returns the result of a question, or the problem of its answer. No answer cancels the question.
 */
export function validateAnswer(
  schema: unknown,
  answer: Json | undefined,
): McpElicitationResult | string {
  if (answer === undefined) return { action: 'cancel' };
  const parsed = v.safeParse(answerSchema, answer);
  if (parsed.success && parsed.output.action !== 'accept') return { action: parsed.output.action };
  if (!isJsonObject(schema)) return { action: 'accept' };
  const content = withDefaults(parsed.success ? (parsed.output.content ?? {}) : answer, schema);
  const issues = createJsonSchemaValidator(schema, 'question')(content);
  if (issues.length > 0) return issues.map((issue) => issueText(issue)).join('; ');
  const plain = v.safeParse(contentSchema, content);
  return plain.success
    ? { action: 'accept', content: plain.output }
    : 'The answer must be an object whose values are strings, numbers, booleans or lists of strings.';
}
