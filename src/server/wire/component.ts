import * as v from 'valibot';
import type { Schemas } from '../../client/index.ts';

/** The type of a component of the OpenAPI document. The client has the same types. */
export type Wire<Name extends keyof Schemas> = Schemas[Name];

/** A schema that describes a component of the OpenAPI document. */
export type WireSchema<Name extends keyof Schemas> = v.GenericSchema<unknown, Wire<Name>>;

/** A schema with a name and a description. */
export type Component<S extends v.GenericSchema<unknown, unknown>> = v.SchemaWithPipe<
  readonly [
    S,
    v.TitleAction<v.InferOutput<S>, string>,
    v.DescriptionAction<v.InferOutput<S>, string>,
  ]
>;

/** Names a schema. The OpenAPI document then has it once, under `components/schemas`. */
export function component<S extends v.GenericSchema<unknown, unknown>>(
  name: string,
  description: string,
  schema: S,
): Component<S> {
  return v.pipe(schema, v.title(name), v.description(description));
}

/** Adds a description to a field. */
export function field<S extends v.GenericSchema<unknown, unknown>>(
  description: string,
  schema: S,
): v.SchemaWithPipe<readonly [S, v.DescriptionAction<v.InferOutput<S>, string>]> {
  return v.pipe(schema, v.description(description));
}
