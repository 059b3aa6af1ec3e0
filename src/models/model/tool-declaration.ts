import type { JsonObject } from '../../core/index.ts';

/** A JSON Schema, of draft 2020-12 unless its `$schema` says otherwise. */
export type JsonSchema = JsonObject;

/** What a model is told of a tool. */
export type ToolDeclaration = {
  /** `[A-Za-z0-9_-]`, 1 to 64 characters. */
  readonly name: string;
  readonly description: string;
  /** Describes one object: the arguments by name. */
  readonly parameters: JsonSchema;
};
