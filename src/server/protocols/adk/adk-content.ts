import * as v from 'valibot';
import { InvalidInputError, isJsonObject } from '../../../core/index.ts';
import type { Json, JsonObject } from '../../../core/index.ts';

/** A body of ADK: its members are in camel case or in snake case. */
export function adkBody<T>(schema: v.GenericSchema<unknown, T>): v.GenericSchema<unknown, T> {
  return v.pipe(
    v.custom<JsonObject>(isJsonObject, 'must be an object'),
    v.transform((value): unknown => toCamelKeys(value)),
    schema,
  );
}

/** Content as ADK sends it, as content of a session. @throws InvalidInputError */
export function fromAdkContent(value: Json, field: string): JsonObject {
  if (typeof value === 'string') return { role: 'user', parts: [{ text: value }] };
  const { role, parts } = isJsonObject(value) ? value : {};
  if (!Array.isArray(parts) || parts.length === 0)
    throw new InvalidInputError(`${field}.parts`, 'must be a list with at least one part.');
  return {
    role: role ?? 'user',
    parts: parts.map((part, index) => fromAdkPart(part, `${field}.parts[${index}]`)),
  };
}

function fromAdkPart(value: Json, field: string): JsonObject {
  if (!isJsonObject(value)) throw new InvalidInputError(field, 'must be an object.');
  // Clients send members without a value.
  const part = Object.fromEntries(
    Object.entries(toCamelKeys(value)).filter(([, member]) => member !== null),
  );
  return Object.fromEntries(
    Object.entries(part).map(([name, member]) => [
      name,
      isJsonObject(member) ? toCamelKeys(member) : member,
    ]),
  );
}

/** The object with its own keys in camel case. */
export function toCamelKeys(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key.replaceAll(/(?<=[a-z])_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      one,
    ]),
  );
}
