import * as v from 'valibot';
import type { Content, Part } from './content.ts';
import { validateBase64 } from './inline-data.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { frozenJson } from '../json/frozen-json.ts';
import { parseWithSchema } from '../validation/parse-with-schema.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';

/** Options of `parseContent`. */
export interface ParseContentOptions {
  /**
   * What to do with a part of an unknown kind. `refuse`: throws, for input of clients. `keep`: keeps it as an opaque part,
   * for output of models and for older logs. Default: `refuse`.
   */
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

// The type annotation keeps each schema in sync with its part type.
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
 * Validates a message from outside and returns a JSON copy of it. Default role: `user`. Unknown fields are rejected, or
 * dropped with `unknownParts: 'keep'`.
 * @throws InvalidInputError with the path of the first invalid value.
 * @throws UnknownFieldError for an unknown field.
 * @throws InlineDataTooLargeError if inline data is above `MAX_INLINE_DATA_SIZE` bytes.
 * @throws NotSerializableError if the message is not JSON.
 */
export function parseContent(value: unknown, options: ParseContentOptions = {}): Content {
  const unknownFields = options.unknownParts === 'keep' ? 'drop' : 'refuse';
  const { role, parts } = parseWithSchema(contentSchema, value, 'content', { unknownFields });
  const keep = options.unknownParts === 'keep';
  return { role, parts: parts.map((part, i) => parsePart(part, `content.parts[${i}]`, keep)) };
}

/** True for a part that can be in a log. A part of an unknown kind can: `parseContent` keeps those of models. */
export function isPart(value: unknown): value is Part {
  if (!isJsonObject(value)) return false;
  return partKinds.every((kind) => !(kind in value) || v.is(partSchemas[kind], value));
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
