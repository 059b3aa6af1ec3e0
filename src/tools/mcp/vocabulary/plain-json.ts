import {
  decodeJson,
  encodeJson,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../../core/index.ts';

/**
 * Copies a value from a server or a setting as plain JSON.
 * @throws NotSerializableError, InvalidJsonError
 */
export function plainJson(value: unknown, path: string): Json {
  return decodeJson(encodeJson(value, path), path);
}

/** The same for an object. Any other value becomes an empty object. */
export function plainObject(value: unknown, path: string): JsonObject {
  const json = plainJson(value, path);
  return isJsonObject(json) ? json : {};
}
