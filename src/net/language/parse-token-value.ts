import { frozenJson } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';
import { TokenSchemaError } from './net-errors.ts';
import type { AnyPlace } from './place.ts';

/**
 * Returns the value as the place stores it: validated by the schema, normalized to the JSON that the journal returns,
 * and frozen. A recovery therefore runs with the same values as the live net.
 * @throws TokenSchemaError if the value does not match the schema, or if the schema is asynchronous.
 * @throws NotSerializableError if the value cannot be stored as JSON.
 */
export function parseTokenValue(place: AnyPlace, value: unknown): Json {
  const { schema } = place;
  if (schema === undefined) {
    if (place.kind === 'map') return frozenJson(value, `the token for "${place.name}"`);
    if (value === undefined || value === null || value === true) return null;
    throw new TokenSchemaError(place.name, 'the place has no schema: use null');
  }
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) {
    throw new TokenSchemaError(
      place.name,
      'the schema is asynchronous, and a firing cannot wait: use a synchronous schema',
    );
  }
  if (result.issues !== undefined) {
    throw new TokenSchemaError(
      place.name,
      result.issues.map((issue) => `${formatPath(issue.path)}${issue.message}`).join('; '),
    );
  }
  return frozenJson(result.value, `the token for "${place.name}"`);
}

function formatPath(
  path: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined,
): string {
  if (path === undefined || path.length === 0) return '';
  return `${path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')}: `;
}
