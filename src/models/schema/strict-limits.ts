import type { JsonSchema } from '../model/tool-declaration.ts';
import { isList, mapSubschemas, getProperties } from './subschemas.ts';

/** The documented limits of OpenAI for a strict schema. */
const MAX_PROPERTIES = 5000;
const MAX_ENUM_VALUES = 1000;
const MAX_CHARACTERS = 120_000;
/** An enum with more values than this may have at most `LONG_LIST_CHARACTERS`. */
const LONG_LIST = 250;
const LONG_LIST_CHARACTERS = 15_000;

/** Whether a schema is within the size limits of strict mode. */
export function fitsStrictLimits(schema: JsonSchema): boolean {
  const size = { properties: 0, enumValues: 0, characters: 0, hasLongList: false };
  const count = (one: JsonSchema): JsonSchema => {
    const names = Object.keys(getProperties(one));
    const values = isList(one['enum']) ? one['enum'].map(String) : [];
    const inEnum = values.join('').length;
    size.properties += names.length;
    size.enumValues += values.length;
    size.characters += names.join('').length + inEnum;
    size.hasLongList ||= values.length > LONG_LIST && inEnum > LONG_LIST_CHARACTERS;
    return mapSubschemas(one, count);
  };
  count(schema);
  return (
    size.properties <= MAX_PROPERTIES &&
    size.enumValues <= MAX_ENUM_VALUES &&
    size.characters <= MAX_CHARACTERS &&
    !size.hasLongList
  );
}
