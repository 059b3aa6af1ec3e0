import type { JsonObject } from '../../core/index.ts';
import type { JsonSchema } from '../model/tool-declaration.ts';
import { dereference } from './dereference.ts';
import { toGeminiOpenApiSchema, toGeminiSchema } from './gemini-schema.ts';
import { toObjectRoot } from './object-root.ts';
import { restoreArgs, type Restoration } from './restore-args.ts';
import { withSafeKeys } from './safe-key.ts';
import { toStrictSchema } from './strict-schema.ts';

/**
 * The subset of JSON Schema that a provider supports. `gemini` is its JSON Schema field and
 * `gemini-openapi` the older one; `compatible` is what an unknown server can be expected to
 * support.
 */
export type SchemaDialect = 'gemini' | 'gemini-openapi' | 'openai' | 'anthropic' | 'compatible';

/** The parameters of a tool in the form that one provider accepts. */
export interface NormalizedSchema {
  readonly schema: JsonSchema;
  /** Whether strict mode is requested. Undefined if the provider has none. */
  readonly strict?: boolean;
  /** Restores arguments to the form of the original schema, by which they are then validated. */
  readonly restore: (args: JsonObject) => JsonObject;
}

/**
 * Converts the parameters of a tool for a provider. The original is not changed, and still
 * validates the arguments.
 */
export function normalizeSchema(original: JsonSchema, dialect: SchemaDialect): NormalizedSchema {
  const root = toObjectRoot(original);
  const restoring =
    (changes: Restoration): NormalizedSchema['restore'] =>
    (args) =>
      restoreArgs(args, original, changes);
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
