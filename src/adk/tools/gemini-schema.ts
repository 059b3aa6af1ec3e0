import { isJsonObject } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import type { ToolParameters } from '../../tools/index.ts';

/** A schema with the type names of Gemini, as `Schema` of `@google/genai`: `OBJECT`, `STRING`. */
export interface GeminiSchema {
  readonly type?: string;
  readonly description?: string;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, GeminiSchema>>;
  readonly required?: readonly string[];
  readonly items?: GeminiSchema;
  readonly anyOf?: readonly GeminiSchema[];
}

/** Limits that Gemini writes as text. */
const LIMITS: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
]);

/** Converts a schema of Gemini to JSON Schema. Another schema is returned as it is. */
export function fromGeminiSchema<S extends ToolParameters | GeminiSchema>(
  schema: S,
): S & ToolParameters {
  const isGemini =
    !('~standard' in schema) && typeof schema.type === 'string' && /^[A-Z]+$/.test(schema.type);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a schema without Gemini's types is JSON Schema
  return (isGemini ? convert(schema as unknown as JsonObject) : schema) as S & ToolParameters;
}

function convert({ type, nullable, ...rest }: JsonObject): JsonObject {
  const name = typeof type === 'string' ? type.toLowerCase() : undefined;
  return {
    ...(name !== undefined && { type: nullable === true ? [name, 'null'] : name }),
    ...Object.fromEntries(
      Object.entries(rest)
        .filter(([key]) => key !== 'propertyOrdering')
        .map(([key, value]) => [key, convertMember(key, value)]),
    ),
  };
}

function convertMember(key: string, value: Json): Json {
  if (LIMITS.has(key)) return Number(value);
  if (key === 'items' && isJsonObject(value)) return convert(value);
  if (key === 'anyOf' && Array.isArray(value))
    return value.map((one) => (isJsonObject(one) ? convert(one) : one));
  if (key !== 'properties' || !isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, isJsonObject(one) ? convert(one) : one]),
  );
}
