import type { JsonObject } from '../../core/index.ts';
import type { JsonSchema } from '../model/tool-declaration.ts';

/**
 * A model of the AI SDK's language-model specification, version 3 or 4, as its provider packages
 * create them. It is recognized by its members, so no package of the SDK is needed for the type.
 */
export interface LanguageModel {
  readonly specificationVersion: 'v3' | 'v4';
  /**
   * For example `anthropic.messages`. The part before the first dot is the provider family, whose
   * signatures its parts carry.
   */
  readonly provider: string;
  readonly modelId: string;
  /** The URLs that the provider can fetch, by media type. */
  readonly supportedUrls: SupportedUrls | PromiseLike<SupportedUrls>;
  /**
   * Takes `ModelCallOptions`. Each version has a narrower type, so no single type fits both: call
   * it through `openStream`.
   */
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
}

/** Starts a call of a model of either version. */
export function openStream(
  model: LanguageModel,
  options: ModelCallOptions,
): PromiseLike<{ readonly stream: ReadableStream<unknown> }> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both versions read the members of ModelCallOptions
  return model.doStream(options as never);
}

export type SupportedUrls = Readonly<Record<string, readonly RegExp[]>>;

/** Options of one call, in the members that both versions share. */
export interface ModelCallOptions {
  readonly prompt: PromptMessage[];
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly maxOutputTokens?: number;
  readonly stopSequences?: string[];
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly seed?: number;
  readonly responseFormat?: { readonly type: 'json'; readonly schema?: JsonSchema };
  readonly tools?: (FunctionToolOption | ProviderToolOption)[];
  readonly toolChoice?:
    | { readonly type: 'auto' | 'none' | 'required' }
    | { readonly type: 'tool'; readonly toolName: string };
  /** Version 4 only. */
  readonly reasoning?: string;
  readonly abortSignal: AbortSignal;
  readonly providerOptions?: ProviderOptions;
}

/** Options for single providers, by provider name. */
export type ProviderOptions = Readonly<Record<string, JsonObject>>;

export interface FunctionToolOption {
  readonly type: 'function';
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly strict?: boolean;
}

/**
 * The id that Gemini's package gives to calls for which Gemini has none. It is not empty, because the package drops the
 * result of a program whose call has an empty id.
 */
export const NO_CALL_ID = 'no-id';

/** A tool that the provider defines. */
export interface ProviderToolOption {
  readonly type: 'provider';
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
}

export type PromptMessage = (
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user' | 'assistant' | 'tool'; readonly content: PromptPart[] }
) & { readonly providerOptions?: ProviderOptions };

/** A part of a message. Its members depend on `type`; see the AI SDK specification. */
export type PromptPart = { readonly type: string } & Readonly<Record<string, unknown>>;

/** One event of a model's stream. Providers add types, so every member is checked before use. */
export type StreamPart = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The value as a stream part; undefined if it is none. */
export function asStreamPart(value: unknown): StreamPart | undefined {
  return hasType(value) ? value : undefined;
}

function hasType(value: unknown): value is StreamPart {
  return (
    typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
  );
}

/**
 * The provider family of a model. All endpoints and models of a family accept each other's
 * signatures.
 */
export function providerFamily(model: Pick<LanguageModel, 'provider'>): string {
  return model.provider.split('.', 1)[0] ?? model.provider;
}
