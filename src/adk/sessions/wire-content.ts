import { InvalidInputError, isJsonObject } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';

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

/** Results of tools have the role of the user in ADK. */
export function toStoredRole(content: JsonObject): JsonObject {
  const { parts } = content;
  const hasResults =
    Array.isArray(parts) &&
    parts.some((part) => isJsonObject(part) && part['functionResponse'] !== undefined);
  return hasResults ? { ...content, role: 'tool' } : content;
}
