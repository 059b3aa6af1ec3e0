import type { JsonObject } from '../../core/index.ts';
import type { JsonSchema } from '../model/tool-declaration.ts';

/**
 * A model of the AI SDK's language-model specification, version 3 or 4: what its provider packages make.
 * Told apart by what it has, so no package of the SDK is needed to name it.
 */
export interface LanguageModel {
  readonly specificationVersion: 'v3' | 'v4';
  /** Such as `anthropic.messages`. What stands before the first dot names whose notes its parts carry. */
  readonly provider: string;
  readonly modelId: string;
  /** Which addresses of files the provider fetches by itself, by media type. */
  readonly supportedUrls: SupportedUrls | PromiseLike<SupportedUrls>;
  /** Takes `CallOptions`. Each version words its own more narrowly, so that no one type fits both: call it by `openStream`. */
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
}

/** Begins a call of a model of either version. */
export function openStream(
  model: LanguageModel,
  options: ModelCallOptions,
): PromiseLike<{ readonly stream: ReadableStream<unknown> }> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what both versions read is what CallOptions holds
  return model.doStream(options as never);
}

export type SupportedUrls = Readonly<Record<string, readonly RegExp[]>>;

/** One call of a `LanguageModel`, in the words both versions share. */
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
  readonly tools?: ProviderFunctionTool[];
  readonly toolChoice?:
    | { readonly type: 'auto' | 'none' | 'required' }
    | { readonly type: 'tool'; readonly toolName: string };
  /** Version 4 only. */
  readonly reasoning?: string;
  readonly abortSignal: AbortSignal;
  readonly providerOptions?: ProviderOptions;
}

/** What only one provider reads, by its name. */
export type ProviderOptions = Readonly<Record<string, JsonObject>>;

export interface ProviderFunctionTool {
  readonly type: 'function';
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly strict?: boolean;
}

export type PromptMessage = (
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user' | 'assistant' | 'tool'; readonly content: PromptPart[] }
) & { readonly providerOptions?: ProviderOptions };

/** A part of a message. Which fields there are follows from `type`; the specification has the list. */
export type PromptPart = { readonly type: string } & Readonly<Record<string, unknown>>;

/** One thing a stream of a `LanguageModel` says. Providers add kinds, so every field is read with care. */
export type StreamPart = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The part, or nothing where the stream holds something else. */
export function asStreamPart(value: unknown): StreamPart | undefined {
  return hasType(value) ? value : undefined;
}

function hasType(value: unknown): value is StreamPart {
  return (
    typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
  );
}

/** Whose model it is: all endpoints and models of one provider understand each other's notes. */
export function providerFamily(model: Pick<LanguageModel, 'provider'>): string {
  return model.provider.split('.', 1)[0] ?? model.provider;
}
