import { omitUndefined } from '../../core/internal.ts';
import { sha256Hex } from '../../core/index.ts';
import type { JsonSchema } from '../model/tool-declaration.ts';
import { mapSubschemas, getProperties, getRequired } from './subschemas.ts';

/**
 * A property name that every provider accepts: the same name if it is valid, otherwise sanitized
 * with a hash of the original.
 */
export function safeKey(name: string): string {
  if (/^[A-Za-z0-9_.-]{1,64}$/.test(name)) return name;
  const legal = name.replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(0, 55);
  return `${legal}_${sha256Hex(name).slice(0, 8)}`;
}

/** Renames the properties whose names Anthropic rejects. */
export function withSafeKeys(schema: JsonSchema): JsonSchema {
  const inner = mapSubschemas(schema, withSafeKeys);
  const properties = Object.entries(getProperties(inner));
  if (properties.every(([name]) => safeKey(name) === name)) return inner;
  const required = getRequired(inner).map(safeKey);
  return {
    ...inner,
    properties: Object.fromEntries(
      properties.map(([name, property]) => [safeKey(name), property] as const),
    ),
    ...omitUndefined({ required: required.length > 0 ? required : undefined }),
  };
}
