import { z } from 'zod';
import type { Content, Part } from './content.ts';
import { validateBase64 } from './inline-data.ts';
import { InvalidInputError } from './invalid-input-error.ts';
import { encodeJson, decodeJson } from './encode-json.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';

/** What to do with a part whose kind this version does not know. */
export interface ParseContentOptions {
  /** `refuse` what a client sends; `keep` what a model or an older log holds, as an opaque part. */
  readonly unknownParts?: 'refuse' | 'keep';
}

const partKinds = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'opaque',
] as const;
type PartKind = (typeof partKinds)[number];

const name = z.string().min(1);
const jsonObject = z.custom<JsonObject>(isJsonObject, 'must be an object');
const signature = { thoughtSignature: z.string().exactOptional() };

// Typed as what they must give, so a part type and its schema cannot drift apart.
const partSchemas: Readonly<Record<PartKind, z.ZodType<Part>>> = {
  text: z.object({ text: z.string(), thought: z.literal(true).exactOptional(), ...signature }),
  inlineData: z.object({
    inlineData: z.object({
      mimeType: name,
      data: z.string(),
      displayName: z.string().exactOptional(),
    }),
    ...signature,
  }),
  fileData: z.object({
    fileData: z.object({
      mimeType: name,
      fileUri: name,
      displayName: z.string().exactOptional(),
    }),
  }),
  functionCall: z.object({
    functionCall: z.object({
      id: name,
      name,
      args: jsonObject,
      argsError: z.object({ message: z.string(), raw: z.string() }).exactOptional(),
      providerId: z.string().exactOptional(),
    }),
    ...signature,
  }),
  functionResponse: z.object({
    functionResponse: z.object({
      id: name,
      name,
      response: jsonObject,
      isError: z.literal(true).exactOptional(),
    }),
  }),
  opaque: z.object({ opaque: z.custom<Json>(() => true) }),
};

const contentSchema = z.object({
  role: z.enum(['user', 'model', 'tool']).default('user'),
  parts: z.array(z.unknown()).min(1),
});

/**
 * Reads a message that came from outside. The role is `user` when it is missing; members nobody knows are dropped;
 * what is accepted is a copy, and JSON.
 * @throws InvalidInputError naming the path, InlineDataTooLargeError, NotSerialisableError
 */
export function parseContent(value: unknown, options: ParseContentOptions = {}): Content {
  const { role, parts } = parseWith(contentSchema, value, 'content');
  const keep = options.unknownParts === 'keep';
  return { role, parts: parts.map((part, i) => parsePart(part, `content.parts[${i}]`, keep)) };
}

function parsePart(value: unknown, path: string, keepUnknown: boolean): Part {
  const json = decodeJson(encodeJson(value, path), path);
  const kinds = isJsonObject(json) ? partKinds.filter((kind) => kind in json) : [];
  const [kind] = kinds;
  if (kind === undefined && keepUnknown) return { opaque: json };
  if (kind === undefined || kinds.length > 1) {
    throw new InvalidInputError(path, `must have exactly one of ${partKinds.join(', ')}.`);
  }
  const part = parseWith(partSchemas[kind], json, path);
  if ('inlineData' in part) validateBase64(part.inlineData.data, `${path}.inlineData.data`);
  return part;
}

function parseWith<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const where = (issue?.path ?? []).map((key) =>
    typeof key === 'number' ? `[${key}]` : `.${String(key)}`,
  );
  throw new InvalidInputError(path + where.join(''), `${issue?.message ?? 'is not valid'}.`);
}
