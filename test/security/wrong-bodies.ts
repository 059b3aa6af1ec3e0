import type { DocumentSchema } from '../server/openapi-document.ts';

/** A wrong field name: its position, and the known name that it misspells. */
export interface WrongName {
  readonly path: string;
  readonly suggestion?: string;
}

/** A body that is valid except for one field name. */
export interface WrongBody {
  readonly body: unknown;
  /** The wrong name. */
  readonly name: string;
  readonly wrong: WrongName;
}

const UNKNOWN = 'qqqqqqqqqqqq';

/**
 * Bodies with one wrong name, for each object of a schema at any depth: one with an unknown name, and one for each
 * known name misspelled. They are generated from the schema alone.
 */
export function wrongBodies(schema: DocumentSchema, root: string): readonly WrongBody[] {
  return closedObjects(schema).flatMap(({ schema: object, place }): readonly WrongBody[] => {
    const known = Object.keys(object.properties ?? {});
    const names = [
      { name: UNKNOWN },
      ...known.map((suggestion) => ({ name: misspelled(suggestion, known), suggestion })),
    ];
    return names.map(({ name, ...more }) => {
      const sample = createSample(object);
      const sampleFields = typeof sample === 'object' && sample !== null ? sample : {};
      // Replaces the misspelled field.
      const { [suggestionIn(more)]: _, ...others } = sampleFields as Record<string, unknown>;
      const wrong = { ...others, ...discriminatorIn(object, sampleFields), [name]: 1 };
      const path = [...place.map(({ key }) => key), name].reduce<string>(
        (before, key) => (typeof key === 'number' ? `${before}[${key}]` : `${before}.${key}`),
        root,
      );
      const body = place.reduceRight<unknown>((inner, step) => step.around(inner), wrong);
      return { body, name, wrong: { path, ...more } };
    });
  });
}

function suggestionIn({ suggestion = '' }: { readonly suggestion?: string }): string {
  return suggestion;
}

/** The field that distinguishes variants is kept: without it the known names are undefined. */
function discriminatorIn(schema: DocumentSchema, sample: object): object {
  return Object.fromEntries(
    Object.entries(sample).filter(([key]) => {
      const { const: only, enum: some } = schema.properties?.[key] ?? {};
      return only !== undefined || some !== undefined;
    }),
  );
}

/** A name with a letter doubled or dropped that is not a known name. */
function misspelled(name: string, known: readonly string[]): string {
  const middle = Math.floor(name.length / 2);
  const doubled = name.slice(0, middle) + name.charAt(middle) + name.slice(middle);
  return known.includes(doubled) ? `${name}${name.slice(-1)}` : doubled;
}

interface Step {
  readonly key: string | number;
  /** Wraps the value of this key in the rest of the body. */
  readonly around: (inner: unknown) => unknown;
}

interface ClosedObject {
  readonly schema: DocumentSchema;
  readonly place: readonly Step[];
}

function closedObjects(
  schema: DocumentSchema,
  place: readonly Step[] = [],
): readonly ClosedObject[] {
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return options.flatMap((one) => closedObjects(one, place));
  if (schema.items !== undefined) {
    const step: Step = { key: 0, around: (inner) => [inner] };
    return closedObjects(schema.items, [...place, step]);
  }
  if (schema.properties === undefined) return [];
  const inside = Object.entries(schema.properties).flatMap(([key, member]) => {
    const around = (inner: unknown): unknown => ({
      ...(createSample(schema) as object),
      [key]: inner,
    });
    return closedObjects(member, [...place, { key, around }]);
  });
  return [{ schema, place }, ...inside];
}

/** The smallest value that a schema accepts. */
function createSample(schema: DocumentSchema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [first] = schema.anyOf ?? schema.oneOf ?? [];
  if (first !== undefined) return createSample(first);
  switch (schema.type) {
    case 'array':
      return (schema.minItems ?? 0) > 0 && schema.items !== undefined
        ? [createSample(schema.items)]
        : [];
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((key) => [key, createSample(schema.properties?.[key] ?? {})]),
      );
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    default:
      return schema.format === 'uri' ? 'https://example.com/' : 'x'.repeat(schema.minLength ?? 1);
  }
}
