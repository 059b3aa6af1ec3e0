import { frozenJson } from '../../core/json/frozen-json.ts';
import type { Json } from '../../core/json/json.ts';
import { TokenSchemaError } from './net-errors.ts';
import type { AnyPlace } from './place.ts';

/**
 * The value as the place keeps it: checked by the schema, then exactly what the journal will give back, frozen.
 * So what runs now is what a recovery runs.
 * @throws TokenSchemaError
 */
export function parseTokenValue(place: AnyPlace, value: unknown): Json {
  const { schema } = place;
  if (schema === undefined) {
    if (place.kind === 'map') return frozenJson(value, `the token for "${place.name}"`);
    if (value === undefined || value === null || value === true) return null;
    throw new TokenSchemaError(place.name, 'it is a unit place: give null');
  }
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) {
    throw new TokenSchemaError(
      place.name,
      'the schema is asynchronous, and a firing cannot wait: use a synchronous one',
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
