import type { Json } from '../../core/index.ts';
import type { JsonSchema } from '../model/tool-declaration.ts';
import { mapMembers } from './subschemas.ts';

// Keywords that help a model even if the provider does not enforce them.
const DESCRIBED_KEYWORDS: ReadonlySet<string> = new Set(
  'pattern format minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minProperties maxProperties default examples'.split(
    ' ',
  ),
);

/** Drops the keywords that are not kept, and adds the useful ones to the description. */
export function describeDropped(
  schema: JsonSchema,
  isKept: (keyword: string) => boolean,
): JsonSchema {
  const hints: string[] = [];
  const kept = mapMembers(schema, (value, keyword) => {
    if (isKept(keyword)) return value;
    if (DESCRIBED_KEYWORDS.has(keyword)) hints.push(`${keyword}: ${JSON.stringify(value)}`);
    return undefined;
  });
  return hints.length === 0 ? kept : addToDescription(kept, hints.join(', '));
}

/** Adds a text to the description of a schema. */
export function addToDescription(schema: JsonSchema, more: string): JsonSchema {
  const before: Json | undefined = schema['description'];
  const text = typeof before === 'string' && before !== '' ? `${before} (${more})` : more;
  return { ...schema, description: text };
}
