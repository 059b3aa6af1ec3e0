import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import type { JsonObject } from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import type { Schema } from './route.ts';

/** A field of the protocol that the server does not support. */
const UNSUPPORTED = {
  description: 'Not supported. Leave it out.',
  enum: [null, false, []],
  'x-unsupported': true,
};

/** `request`: objects have no further fields. `response`: later versions of the server may add fields. */
export type SchemaDirection = 'request' | 'response';

/**
 * The schemas of an OpenAPI document. A schema with a title becomes a component with that name; the places where it
 * occurs refer to it.
 */
export class OpenApiSchemas {
  readonly #definitions: Record<string, Schema> = {};
  readonly #directions: Record<string, SchemaDirection> = {};

  /**
   * Converts a schema to JSON Schema.
   * @throws Error when two schemas have the same title, or when a request and a response share one
   */
  convert(schema: Schema, direction: SchemaDirection): JsonObject {
    return this.#toJsonSchema(schema, direction, this.#collect(schema, direction));
  }

  /** The components that the converted schemas refer to, by name in alphabetical order. */
  components(): JsonObject {
    const names = Object.keys(this.#definitions).toSorted();
    return Object.fromEntries(
      names.map((name) => {
        const schema = this.#definitions[name];
        const direction = this.#directions[name] ?? 'request';
        if (schema === undefined) return [name, {}];
        const description = v.getDescription(schema);
        const { [name]: _, ...others } = this.#collect(schema, direction);
        return [
          name,
          {
            ...omitUndefined({ description }),
            ...this.#toJsonSchema(schema, direction, others),
          },
        ];
      }),
    );
  }

  /** Defines the components in a schema and returns them by name. */
  #collect(schema: Schema, direction: SchemaDirection): Record<string, Schema> {
    const found: Record<string, Schema> = {};
    const seen = new Set<object>();
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null || seen.has(value)) return;
      seen.add(value);
      if (isSchema(value)) {
        const name = v.getTitle(value);
        if (name !== undefined) {
          this.#define(name, value, direction);
          found[name] = value;
        }
      }
      for (const [key, member] of Object.entries(value)) if (key !== '~standard') visit(member);
    };
    visit(schema);
    return found;
  }

  #define(name: string, schema: Schema, direction: SchemaDirection): void {
    const known = this.#definitions[name] ?? schema;
    if (known !== schema) throw new Error(`Two schemas have the title ${name}. Rename one.`);
    if ((this.#directions[name] ?? direction) !== direction)
      throw new Error(`A request and a response share the schema ${name}. Declare two.`);
    this.#definitions[name] = schema;
    this.#directions[name] = direction;
  }

  #toJsonSchema(
    schema: Schema,
    direction: SchemaDirection,
    // Only those in the schema: the library converts each of them in every call.
    definitions: Readonly<Record<string, Schema>>,
  ): JsonObject {
    const converted = toJsonSchema(schema, {
      target: 'draft-2020-12',
      typeMode: direction === 'request' ? 'input' : 'output',
      definitions,
      overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
      // The name of a component is its title.
      ignoreActions: ['title'],
      // JSON Schema cannot express custom checks; the error response names what they reject.
      errorMode: 'ignore',
      overrideSchema: ({ valibotSchema, jsonSchema }) => {
        if (valibotSchema.type === 'object' && direction === 'request')
          return { ...jsonSchema, additionalProperties: false };
        if (valibotSchema.type !== 'custom') return undefined;
        const message = 'message' in valibotSchema ? String(valibotSchema.message) : '';
        return message.startsWith('is not supported')
          ? UNSUPPORTED
          : { type: 'object', additionalProperties: true };
      },
    });
    const { $schema: _, $defs: __, ...rest } = converted;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a JSON Schema is JSON; its declared type is wider
    return rest as JsonObject;
  }
}

function isSchema(value: object): value is Schema {
  return 'kind' in value && value.kind === 'schema';
}
