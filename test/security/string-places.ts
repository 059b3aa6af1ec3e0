import type { DocumentSchema } from '../server/openapi-document.ts';

/** A position in a request body where a client can put any text, in an otherwise valid body. */
export interface StringPlace {
  readonly name: string;
  readonly withText: (text: string) => unknown;
}

/** Returns the text for a required text field, by the field's name. */
export type Texts = (field: string) => string;

/** All positions of a body where its schema accepts a text, at any depth and in any variant. */
export function stringPlaces(
  schema: DocumentSchema,
  texts: Texts,
  name = 'body',
): readonly StringPlace[] {
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return variants.flatMap((one) => stringPlaces(one, texts, name));
  if (isFree(schema)) return [{ name, withText: (text) => text }];
  if (schema.items !== undefined)
    return stringPlaces(schema.items, texts, `${name}[]`).map((place) => ({
      name: place.name,
      withText: (text) => [place.withText(text)],
    }));
  return Object.entries(schema.properties ?? {}).flatMap(([field, inner]) =>
    stringPlaces(inner, texts, `${name}.${field}`).map((place) => ({
      name: place.name,
      withText: (text: string) => ({ ...required(schema, texts), [field]: place.withText(text) }),
    })),
  );
}

function isFree({ type, enum: choices, const: fixed }: DocumentSchema): boolean {
  return type === 'string' && choices === undefined && fixed === undefined;
}

function required(schema: DocumentSchema, texts: Texts): Readonly<Record<string, unknown>> {
  const names = schema.required ?? [];
  return Object.fromEntries(
    names.flatMap((field): [string, unknown][] => {
      const inner = schema.properties?.[field];
      return inner === undefined ? [] : [[field, least(inner, texts, field)]];
    }),
  );
}

/** The smallest value that a schema accepts. */
function least(schema: DocumentSchema, texts: Texts, field: string): unknown {
  const [variant] = schema.anyOf ?? schema.oneOf ?? [];
  if (variant !== undefined) return least(variant, texts, field);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  switch (schema.type) {
    case 'string':
      return texts(field);
    case 'array':
      return schema.items === undefined ? [] : [least(schema.items, texts, field)];
    case 'number':
    case 'integer':
      return schema.minimum ?? 1;
    case 'boolean':
      return false;
    default:
      return required(schema, texts);
  }
}
