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
  /**
   * A tool that the model's provider defines, such as its web search. The provider gets this in place of the description
   * and the parameters. A model without this tool rejects the request with `UnsupportedFeatureError`.
   */
  readonly provider?: ProviderToolDeclaration;
};

/** A tool of a provider, as its AI SDK package declares it. */
export type ProviderToolDeclaration = {
  /** The provider and its name of the tool, such as `google.google_search`. */
  readonly id: string;
  /** The options of the tool, in the spelling of the provider's AI SDK package. */
  readonly args: JsonObject;
};
