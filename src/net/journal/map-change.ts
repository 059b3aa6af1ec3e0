import { omitUndefined, isJsonObject } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';
import { TokenSchemaError } from '../language/net-errors.ts';
import type { AnyPlace } from '../language/place.ts';
import type { MapChange } from './record.ts';
import { parseTokenValue } from '../language/parse-token-value.ts';

/**
 * Validates the writes of a firing to a map place and returns them as a journal change. Empty members are omitted.
 * @throws TokenSchemaError if a member has the wrong type.
 */
export function toMapChange(place: AnyPlace, writes: unknown): MapChange {
  const json = parseTokenValue(place, writes);
  if (!isJsonObject(json))
    throw invalidWrites(place, 'writes', 'an object { set, delete, increment, append }');
  const { set = {}, delete: gone = [], increment = {}, append = {}, replace } = json;
  if (!isJsonObject(set)) throw invalidWrites(place, 'set', 'an object of values');
  if (!isList(gone, isText)) throw invalidWrites(place, 'delete', 'a list of keys');
  if (!hasMembers(increment, isNumber))
    throw invalidWrites(place, 'increment', 'an object of numbers');
  if (!hasMembers(append, Array.isArray))
    throw invalidWrites(place, 'append', 'an object of lists');
  return {
    place: place.name,
    ...omitUndefined({
      set: hasKeys(set) ? set : undefined,
      delete: gone.length > 0 ? gone : undefined,
      increment: hasKeys(increment) ? increment : undefined,
      append: hasKeys(append) ? append : undefined,
      replace: replace === true ? replace : undefined,
    }),
  };
}

function invalidWrites(place: AnyPlace, member: string, must: string): TokenSchemaError {
  return new TokenSchemaError(place.name, `${member} must be ${must}`);
}

function hasKeys(value: object): boolean {
  return Object.keys(value).length > 0;
}

function isList<T extends Json>(value: Json, is: (item: Json) => item is T): value is readonly T[] {
  return Array.isArray(value) && value.every(is);
}

function hasMembers<T extends Json>(
  value: Json,
  is: (member: Json) => member is T,
): value is Readonly<Record<string, T>> {
  return isJsonObject(value) && Object.values(value).every(is);
}

function isText(value: Json): value is string {
  return typeof value === 'string';
}

function isNumber(value: Json): value is number {
  return typeof value === 'number';
}
