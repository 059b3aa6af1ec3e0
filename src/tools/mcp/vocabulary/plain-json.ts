import {
  decodeJson,
  encodeJson,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../../core/index.ts';

/** What a server or a setting gave, as JSON of our own. @throws NotSerializableError, InvalidJsonError */
export function plainJson(value: unknown, path: string): Json {
  return decodeJson(encodeJson(value, path), path);
}

/** The same, of an object; an empty one of anything else. */
export function plainObject(value: unknown, path: string): JsonObject {
  const json = plainJson(value, path);
  return isJsonObject(json) ? json : {};
}
