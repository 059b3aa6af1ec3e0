import { isJsonObject, readOwn } from '../../core/internal.ts';
import type { Json, JsonObject } from '../../core/index.ts';

/** The JSON Schemas that a value has. None: nothing of it is declared. */
export type Schemas = readonly JsonObject[];

/** The JSON Schema of an object with these members. A text has names of members about which nothing more is known. */
export function declared(
  names: string,
  members: Readonly<Record<string, JsonObject>> = {},
): JsonObject {
  const plain = Object.fromEntries(names.split(' ').map((name) => [name, {}]));
  return { properties: { ...plain, ...members } };
}

const CALL = declared('id name providerId args', { argsError: declared('message raw') });
const DATA = declared('mimeType data displayName fileUri');
const PART = declared('text thought thoughtSignature opaque', {
  functionCall: CALL,
  functionResponse: declared('id name response isError'),
  inlineData: DATA,
  fileData: DATA,
});

/** Members that places declare without a JSON Schema, because a function of this package checks them. */
const KNOWN: Readonly<Record<string, JsonObject>> = {
  content: declared('role', { parts: { items: PART } }),
  usage: declared(
    'inputTokens outputTokens totalTokens thinkingTokens cacheReadTokens cacheWriteTokens',
  ),
  writes: declared('set delete increment append'),
};

/** Returns the schemas of a member, and undefined if no schema of the object names it. */
export function findMember(schemas: Schemas, name: string): Schemas | undefined {
  const found = listAlternatives(schemas).flatMap(({ properties }) => {
    const own = isJsonObject(properties) && Object.hasOwn(properties, name);
    const member = own ? properties[name] : undefined;
    return isJsonObject(member) ? [member] : [];
  });
  if (found.length === 0) return undefined;
  const known = readOwn(KNOWN, name);
  const isUndescribed = found.every((schema) => Object.keys(schema).length === 0);
  return isUndescribed && known !== undefined ? [known] : found;
}

/** Returns the schemas of the members that no schema of the object names. */
export function findOthers(schemas: Schemas): Schemas {
  return pick(schemas, 'additionalProperties');
}

/** Returns the schemas of the items of a list. */
export function findItems(schemas: Schemas): Schemas {
  return pick(schemas, 'items');
}

function pick(schemas: Schemas, name: string): Schemas {
  return listAlternatives(schemas).flatMap(({ [name]: schema }) =>
    isJsonObject(schema) ? [schema] : [],
  );
}

/** The schemas with those that they combine. A reference is not followed: what it declares counts as unknown. */
function listAlternatives(schemas: Schemas): Schemas {
  return schemas.flatMap((schema) => {
    const parts = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => toList(schema[name]));
    return [schema, ...listAlternatives(parts.filter((part) => isJsonObject(part)))];
  });
}

function toList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
