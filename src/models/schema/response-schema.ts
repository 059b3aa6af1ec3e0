import type { JsonSchema } from '../model/tool-declaration.ts';
import { dereference } from './dereference.ts';
import { toGeminiSchema } from './gemini-schema.ts';
import type { SchemaDialect } from './normalize-schema.ts';
import { toObjectRoot } from './object-root.ts';
import { isStrictAsItIs, toStrictSchema } from './strict-schema.ts';
import { getTypes } from './subschemas.ts';

/**
 * The schema of a response for one provider. Strict mode is used only if the schema needs no change
 * for it: a response is text that is shown while it streams, so it cannot be restored afterwards.
 */
export function responseSchemaFor(
  schema: JsonSchema,
  dialect: SchemaDialect,
): { readonly schema: JsonSchema; readonly strict: boolean } {
  const isObject = getTypes(schema).includes('object') || 'properties' in schema;
  const root = isObject ? toObjectRoot(schema) : schema;
  if (dialect === 'openai') {
    const strict = isObject && isStrictAsItIs(root) ? toStrictSchema(root) : undefined;
    return { schema: strict ?? root, strict: strict !== undefined };
  }
  const flat = dialect === 'anthropic' ? root : dereference(root);
  return { schema: dialect === 'gemini' ? toGeminiSchema(flat) : flat, strict: false };
}
