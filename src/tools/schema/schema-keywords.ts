import { isJsonObject, type Json, type JsonObject } from '../../core/index.ts';
import { typeName, type Report } from './validate-scalar.ts';

export function validateType({ type }: JsonObject, value: Json, report: Report): void {
  if (type === undefined) return;
  const types = typeof type === 'string' ? [type] : stringsIn(type);
  const actual = typeName(value);
  const fits = types.some(
    (one) => one === actual || (one === 'integer' && Number.isInteger(value)),
  );
  if (!fits) report(`Instance type "${actual}" is invalid. Expected "${types.join('", "')}"`);
}

const SHOWN_LENGTH = 1_000;

/** The text of allowed values in an issue. */
export function truncatedJson(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
}

/** The members or schemas that depend on a member: names, or a schema of the whole value. */
export function dependencies(
  schema: JsonObject,
): readonly (readonly [key: string, needed: Json])[] {
  return ['dependentRequired', 'dependentSchemas', 'dependencies'].flatMap((keyword) =>
    Object.entries(objectAt(schema, keyword)),
  );
}

export function stringsIn(list: Json | undefined): readonly string[] {
  return Array.isArray(list)
    ? (list as readonly Json[]).filter((one) => typeof one === 'string')
    : [];
}

/** The object under a keyword, or an empty one. */
export function objectAt(schema: JsonObject, keyword: string): JsonObject {
  const object = schema[keyword];
  return isJsonObject(object) ? object : {};
}
