import type { JsonSchema } from '../tool-declaration.ts';
import { isList, mapSubschemas, propertiesOf } from './subschemas.ts';

/** What OpenAI documents of how large a strict schema may be. */
const MOST_PROPERTIES = 5000;
const MOST_ENUM_VALUES = 1000;
const MOST_CHARACTERS = 120_000;
/** One list of more than so many texts may have so many characters. */
const LONG_LIST = 250;
const LONG_LIST_CHARACTERS = 15_000;

/** Whether strict mode takes a schema of this size. */
export function fitsStrictLimits(schema: JsonSchema): boolean {
  const size = { properties: 0, enumValues: 0, characters: 0, hasLongList: false };
  const count = (one: JsonSchema): JsonSchema => {
    const names = Object.keys(propertiesOf(one));
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
    size.properties <= MOST_PROPERTIES &&
    size.enumValues <= MOST_ENUM_VALUES &&
    size.characters <= MOST_CHARACTERS &&
    !size.hasLongList
  );
}
