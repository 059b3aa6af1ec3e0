import type { JsonObject } from '../../core/index.ts';

/** A JSON Schema. `$schema` selects the draft. Default: 2020-12. */
export type JsonSchema = JsonObject;

/** The declaration of a tool for a model. */
export type ToolDeclaration = {
  /** 1 to 64 characters of `[A-Za-z0-9_-]`. */
  readonly name: string;
  readonly description: string;
  /** Describes an object whose members are the arguments. */
  readonly parameters: JsonSchema;
};
