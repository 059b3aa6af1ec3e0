import type { JsonSchema } from '../model/tool-declaration.ts';
import { isList, mapSubschemas, getProperties } from './subschemas.ts';

/** What OpenAI documents of how large a strict schema may be. */
const MAX_PROPERTIES = 5000;
const MAX_ENUM_VALUES = 1000;
const MAX_CHARACTERS = 120_000;
/** One list of more than so many texts may have so many characters. */
const LONG_LIST = 250;
const LONG_LIST_CHARACTERS = 15_000;

/** Whether strict mode takes a schema of this size. */
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
