import * as v from 'valibot';
import type { Content, Part } from './content.ts';
import { validateBase64 } from './inline-data.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { frozenJson } from '../json/frozen-json.ts';
import { parseWithSchema } from '../validation/parse-with-schema.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';

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

const name = v.pipe(v.string(), v.nonEmpty('must not be empty'));
const jsonObject = v.custom<JsonObject>(isJsonObject, 'must be an object');
const signature = { thoughtSignature: v.exactOptional(v.string()) };

// Typed as what they must give, so a part type and its schema cannot drift apart.
const partSchemas: Readonly<Record<PartKind, v.GenericSchema<unknown, Part>>> = {
  text: v.object({ text: v.string(), thought: v.exactOptional(v.literal(true)), ...signature }),
  inlineData: v.object({
    inlineData: v.object({
      mimeType: name,
      data: v.string(),
      displayName: v.exactOptional(v.string()),
    }),
    ...signature,
  }),
  fileData: v.object({
    fileData: v.object({
      mimeType: name,
      fileUri: name,
      displayName: v.exactOptional(v.string()),
    }),
  }),
  functionCall: v.object({
    functionCall: v.object({
      id: name,
      name,
      args: jsonObject,
      argsError: v.exactOptional(v.object({ message: v.string(), raw: v.string() })),
      providerId: v.exactOptional(v.string()),
    }),
    ...signature,
  }),
  functionResponse: v.object({
    functionResponse: v.object({
      id: name,
      name,
      response: jsonObject,
      isError: v.exactOptional(v.literal(true)),
    }),
  }),
  opaque: v.object({ opaque: v.custom<Json>(() => true) }),
};

const contentSchema = v.object({
  role: v.optional(v.picklist(['user', 'model', 'tool']), 'user'),
  parts: v.pipe(v.array(v.unknown()), v.minLength(1, 'must not be empty')),
});

/**
 * Reads a message that came from outside. The role is `user` when it is missing; members nobody knows are refused, or dropped with `keep`;
 * what is accepted is a copy, and JSON.
 * @throws InvalidInputError naming the path, UnknownFieldError, InlineDataTooLargeError, NotSerializableError
 */
export function parseContent(value: unknown, options: ParseContentOptions = {}): Content {
  const unknownFields = options.unknownParts === 'keep' ? 'drop' : 'refuse';
  const { role, parts } = parseWithSchema(contentSchema, value, 'content', { unknownFields });
  const keep = options.unknownParts === 'keep';
  return { role, parts: parts.map((part, i) => parsePart(part, `content.parts[${i}]`, keep)) };
}

function parsePart(value: unknown, path: string, keepUnknown: boolean): Part {
  const json = frozenJson(value, path);
  const kinds = isJsonObject(json) ? partKinds.filter((kind) => kind in json) : [];
  const [kind] = kinds;
  if (kind === undefined && keepUnknown) return { opaque: json };
  if (kind === undefined || kinds.length > 1) {
    throw new InvalidInputError(path, `must have exactly one of ${partKinds.join(', ')}.`);
  }
  const part = parseWithSchema(partSchemas[kind], json, path, {
    unknownFields: keepUnknown ? 'drop' : 'refuse',
  });
  if ('inlineData' in part) validateBase64(part.inlineData.data, `${path}.inlineData.data`);
  return part;
}
