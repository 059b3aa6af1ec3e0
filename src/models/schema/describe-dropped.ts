import type { Json } from '../../core/index.ts';
import type { JsonSchema } from '../model/tool-declaration.ts';
import { mapMembers } from './subschemas.ts';

// What a model can make use of although the provider does not enforce it.
const DESCRIBED_KEYWORDS: ReadonlySet<string> = new Set(
  'pattern format minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minProperties maxProperties default examples'.split(
    ' ',
  ),
);

/** Leaves out the keywords that are not kept, and says in the description what is worth saying of them. */
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
  return hints.length === 0 ? kept : described(kept, hints.join(', '));
}

/** Adds to the description of a schema. */
export function described(schema: JsonSchema, more: string): JsonSchema {
  const before: Json | undefined = schema['description'];
  const text = typeof before === 'string' && before !== '' ? `${before} (${more})` : more;
  return { ...schema, description: text };
}
