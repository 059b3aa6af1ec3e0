import type { DocumentSchema } from '../server/openapi-document.ts';

/** A name that is wrong: where it stands, and the known one that it misspells. */
export interface WrongName {
  readonly path: string;
  readonly meant?: string;
}

/** A body that is fine but for one name. */
export interface WrongBody {
  readonly body: unknown;
  /** The name that was given. */
  readonly given: string;
  readonly wrong: WrongName;
}

const UNKNOWN = 'qqqqqqqqqqqq';

/**
 * For each object that a schema has, at any depth: a body with a name that is none there, and one for each known name
 * misspelled. All of it is made of the schema alone.
 */
export function wrongBodies(schema: DocumentSchema, root: string): readonly WrongBody[] {
  return closedObjects(schema).flatMap(({ schema: object, place }): readonly WrongBody[] => {
    const known = Object.keys(object.properties ?? {});
    const names = [
      { given: UNKNOWN },
      ...known.map((meant) => ({ given: misspelled(meant, known), meant })),
    ];
    return names.map(({ given, ...more }) => {
      const sample = createSample(object);
      const bare = typeof sample === 'object' && sample !== null ? sample : {};
      // In place of the one it misspells.
      const { [meantIn(more)]: _, ...others } = bare as Record<string, unknown>;
      const wrong = { ...others, ...discriminatorIn(object, bare), [given]: 1 };
      const path = [...place.map(({ key }) => key), given].reduce<string>(
        (before, key) => (typeof key === 'number' ? `${before}[${key}]` : `${before}.${key}`),
        root,
      );
      const body = place.reduceRight<unknown>((inner, step) => step.around(inner), wrong);
      return { body, given, wrong: { path, ...more } };
    });
  });
}

function meantIn({ meant = '' }: { readonly meant?: string }): string {
  return meant;
}

/** What tells one shape from another stays: without it nobody knows which names are known. */
function discriminatorIn(schema: DocumentSchema, sample: object): object {
  return Object.fromEntries(
    Object.entries(sample).filter(([key]) => {
      const { const: only, enum: some } = schema.properties?.[key] ?? {};
      return only !== undefined || some !== undefined;
    }),
  );
}

/** A name with a letter doubled, or one lost, which is no known name. */
function misspelled(name: string, known: readonly string[]): string {
  const middle = Math.floor(name.length / 2);
  const doubled = name.slice(0, middle) + name.charAt(middle) + name.slice(middle);
  return known.includes(doubled) ? `${name}${name.slice(-1)}` : doubled;
}

interface Step {
  readonly key: string | number;
  /** What stands around the value of this key. */
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

/** The smallest value that a schema takes. */
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
