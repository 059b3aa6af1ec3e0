import { readOwn } from '../../core/internal.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/index.ts';
import type { JsonSchema } from '../model/tool-declaration.ts';
import { resolveRef } from './dereference.ts';
import { safeKey } from './safe-key.ts';
import {
  asSchema,
  getBranches,
  isList,
  getProperties,
  getRequired,
  getTypes,
} from './subschemas.ts';

/** Which changes of a normalized schema to undo in arguments. */
export interface Restoration {
  /** Optional properties came as null. */
  readonly nulls?: true;
  /** Values that are not strings came as strings. */
  readonly values?: true;
  /** Properties came under safe names. */
  readonly keys?: true;
}

/**
 * Restores arguments to the form of the original schema. Members that it does not describe stay
 * unchanged.
 */
export function restoreArgs(
  args: JsonObject,
  schema: JsonSchema,
  changes: Restoration,
): JsonObject {
  let steps = 0;
  const restored = restore(args, [schema], 0);
  return isJsonObject(restored) ? restored : args;

  function restore(value: Json, schemas: readonly JsonSchema[], depth: number): Json {
    const all = schemas.flatMap((one) => applicable(value, one, depth));
    if (all.length === 0) return value;
    if (isList(value)) return value.map((item, i) => restore(item, itemSchemas(all, i), depth + 1));
    if (isJsonObject(value)) return restoreObject(value, all, depth);
    return changes.values === true && typeof value === 'string'
      ? toOriginalValue(value, all)
      : value;
  }

  function restoreObject(
    value: JsonObject,
    schemas: readonly JsonSchema[],
    depth: number,
  ): JsonObject {
    const known = schemas.map(getProperties);
    const required = new Set(schemas.flatMap(getRequired));
    const members: (readonly [string, Json])[] = [];
    for (const [key, member] of Object.entries(value)) {
      const name = toOriginalKey(key, known);
      const inner = known.flatMap((properties): readonly JsonSchema[] => {
        const property = readOwn(properties, name);
        return property === undefined ? [] : [property];
      });
      const meansNothing = member === null && changes.nulls === true && !required.has(name);
      // A null may be meant literally. A null that no schema describes comes from another
      // alternative.
      const allowed = inner.length > 0 && inner.every((one) => couldBe(null, one, depth));
      if (meansNothing && !allowed) continue;
      const others = inner.length > 0 ? inner : schemas.flatMap(getAdditional);
      members.push([name, restore(member, others, depth + 1)]);
    }
    return Object.fromEntries(members);
  }

  function toOriginalKey(
    key: string,
    known: readonly Readonly<Record<string, JsonSchema>>[],
  ): string {
    if (changes.keys !== true) return key;
    return known.flatMap(Object.keys).find((name) => safeKey(name) === key) ?? key;
  }

  // The schema, the schemas it is composed of, and the first of its alternatives that the value
  // could match.
  function applicable(value: Json, one: JsonSchema, depth: number): readonly JsonSchema[] {
    if (depth > MAX_DEPTH || ++steps > MAX_STEPS) return [];
    const { $ref: ref } = one;
    const target = typeof ref === 'string' ? resolveRef(schema, ref) : undefined;
    const parts = [...getBranches(one, 'allOf'), ...(target === undefined ? [] : [target])];
    const options = [...getBranches(one, 'anyOf'), ...getBranches(one, 'oneOf')];
    const chosen = options.find((option) => couldBe(value, option, depth));
    const inner = chosen === undefined ? parts : [...parts, chosen];
    return [one, ...inner.flatMap((part) => applicable(value, part, depth + 1))];
  }

  // Whether a value, as it came, could match a schema: precise enough to choose an alternative. The
  // arguments are validated elsewhere.
  function couldBe(value: Json, one: JsonSchema, depth: number): boolean {
    if (depth > MAX_DEPTH || ++steps > MAX_STEPS) return true;
    const { $ref: ref } = one;
    const target = typeof ref === 'string' ? resolveRef(schema, ref) : undefined;
    const parts = [...getBranches(one, 'allOf'), ...(target === undefined ? [] : [target])];
    return (
      isOneOfItsValues(value, one) &&
      isOfItsTypes(value, one) &&
      parts.every((part) => couldBe(value, part, depth + 1)) &&
      OPTIONS.every((keyword) => {
        const options = getBranches(one, keyword);
        return options.length === 0 || options.some((each) => couldBe(value, each, depth + 1));
      }) &&
      couldHoldThese(value, one, depth)
    );
  }

  function couldHoldThese(value: Json, one: JsonSchema, depth: number): boolean {
    if (isList(value)) {
      return value.every((item, i) =>
        itemSchemas([one], i).every((each) => couldBe(item, each, depth + 1)),
      );
    }
    if (!isJsonObject(value)) return true;
    const properties = getProperties(one);
    const members = Object.entries(value)
      .filter(([, member]) => changes.nulls !== true || member !== null)
      .map(([key, member]) => [toOriginalKey(key, [properties]), member] as const);
    const names = new Set(members.map(([name]) => name));
    return (
      getRequired(one).every((name) => names.has(name) || value[name] === null) &&
      members.every(([name, member]) => {
        const property = readOwn(properties, name);
        return property === undefined
          ? one['additionalProperties'] !== false
          : couldBe(member, property, depth + 1);
      })
    );
  }

  function isOneOfItsValues(value: Json, { const: only, enum: list }: JsonSchema): boolean {
    const isSame = (each: Json): boolean =>
      sameScalar(each, value) || (changes.values === true && isWrittenAs(each, value));
    if (only !== undefined && !isSame(only)) return false;
    return !isList(list) || list.some(isSame);
  }

  function isOfItsTypes(value: Json, one: JsonSchema): boolean {
    const types = getTypes(one);
    if (types.length === 0 || types.some((type) => isOfType(value, type))) return true;
    // A value that is not a string may have come as one.
    return (
      changes.values === true && typeof value === 'string' && ('enum' in one || 'const' in one)
    );
  }
}

const OPTIONS = ['anyOf', 'oneOf'] as const;
const MAX_DEPTH = 60;
/**
 * Nested alternatives multiply. Values beyond the limit stay unchanged, and are validated all the
 * same.
 */
const MAX_STEPS = 30_000;

function itemSchemas(schemas: readonly JsonSchema[], index: number): readonly JsonSchema[] {
  return schemas.flatMap(({ items, prefixItems }) => {
    const tuple = isList(prefixItems) ? prefixItems : isList(items) ? items : [];
    const item = tuple[index] ?? (isList(items) ? undefined : items);
    return item === undefined ? [] : [asSchema(item)];
  });
}

function getAdditional({ additionalProperties }: JsonSchema): readonly JsonSchema[] {
  return isJsonObject(additionalProperties) ? [additionalProperties] : [];
}

function toOriginalValue(value: string, schemas: readonly JsonSchema[]): Json {
  const values = schemas.flatMap(({ enum: list, const: only }) => [
    ...(isList(list) ? list : []),
    ...(only === undefined ? [] : [only]),
  ]);
  if (values.includes(value)) return value;
  return values.find((each) => isWrittenAs(each, value)) ?? value;
}

function isWrittenAs(original: Json, value: Json): boolean {
  return typeof original !== 'object' && String(original) === value;
}

function sameScalar(a: Json, b: Json): boolean {
  return a === b || (typeof a === 'object' && typeof b === 'object' && a !== null && b !== null);
}

function isOfType(value: Json, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return isList(value);
    case 'object':
      return isJsonObject(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}
