import type { JsonObject } from '../../core/index.ts';
import type { JsonSchema } from '../model/tool-declaration.ts';
import { dereference } from './dereference.ts';
import { toGeminiOpenApiSchema, toGeminiSchema } from './gemini-schema.ts';
import { toObjectRoot } from './object-root.ts';
import { restoreArgs, type Restoration } from './restore-args.ts';
import { withSafeKeys } from './safe-key.ts';
import { toStrictSchema } from './strict-schema.ts';

/**
 * The part of JSON Schema a provider reads. `gemini` is its JSON Schema field and `gemini-openapi` the older one;
 * `compatible` is what can be expected of a server nobody knows.
 */
export type SchemaDialect = 'gemini' | 'gemini-openapi' | 'openai' | 'anthropic' | 'compatible';

/** The parameters of a tool as one provider is told them. */
export interface NormalizedSchema {
  readonly schema: JsonSchema;
  /** The provider can be told to keep to it exactly; missing where it has no such word. */
  readonly strict?: boolean;
  /** Gives the arguments that come back the form the original schema means; they are then judged by the original. */
  readonly restore: (args: JsonObject) => JsonObject;
}

/** Tells the parameters of a tool in the words of a provider. The original is not changed, and stays the judge. */
export function normalizeSchema(original: JsonSchema, dialect: SchemaDialect): NormalizedSchema {
  const root = toObjectRoot(original);
  const restoring =
    (what: Restoration): NormalizedSchema['restore'] =>
    (args) =>
      restoreArgs(args, original, what);
  switch (dialect) {
    case 'gemini':
      return { schema: toGeminiSchema(dereference(root)), restore: identity };
    case 'gemini-openapi':
      return {
        schema: toGeminiOpenApiSchema(dereference(root)),
        restore: restoring({ values: true }),
      };
    case 'openai': {
      const strict = toStrictSchema(root);
      return strict === undefined
        ? { schema: root, strict: false, restore: identity }
        : { schema: strict, strict: true, restore: restoring({ nulls: true }) };
    }
    case 'anthropic':
      return { schema: withSafeKeys(root), restore: restoring({ keys: true }) };
    case 'compatible':
    default:
      return { schema: dereference(root), restore: identity };
  }
}

function identity(args: JsonObject): JsonObject {
  return args;
}
