import type {
  Content,
  FinishReason,
  FiringId,
  JsonObject,
  ProviderMetadata,
  Usage,
} from '../core/index.ts';
import type { JsonSchema, ToolDeclaration } from './tool-declaration.ts';

/** A language model. Whatever the provider, this is all the rest of Petrichor knows of it. */
export interface Model {
  readonly name: string;
  /**
   * Asks once; repeating is the caller's. It settles soon after `context.signal` aborts.
   * An answer that was cut off is an error, never a shorter answer.
   * @throws ModelError
   */
  readonly generate: (request: ModelRequest, context: ModelContext) => Promise<ModelResponse>;
}

/** Everything the answer depends on. */
export type ModelRequest = {
  readonly instruction?: string;
  /** Oldest first. Each call is answered right after the message that made it. */
  readonly contents: readonly Content[];
  readonly tools: readonly ToolDeclaration[];
  readonly config?: GenerationConfig;
};

/** Wishes of the caller. A provider that has no word for one ignores it. */
export type GenerationConfig = {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly maxOutputTokens?: number;
  readonly stopSequences?: readonly string[];
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly seed?: number;
  /** The answer's text is JSON of this schema. */
  readonly responseSchema?: JsonSchema;
  /** Passed to the provider as they are, by provider name. */
  readonly providerOptions?: { readonly [provider: string]: JsonObject };
};

/** Beside the request: what the answer does not depend on. */
export interface ModelContext {
  readonly signal: AbortSignal;
  /** Shows a piece of the answer before it is whole. Pieces may be lost, and are void when the call fails. */
  readonly onDelta: (delta: ModelDelta) => void;
  /** Stable over retries and crashes: a provider may take it for an idempotency key. */
  readonly firingId: FiringId;
  /** 1 for the first. */
  readonly attempt: number;
}

/** A piece of an answer. */
export type ModelDelta = { readonly kind: 'text' | 'thinking'; readonly text: string };

/** A whole answer. */
export type ModelResponse = {
  /**
   * Of role `model`. The `id` of a call is the provider's, or empty where it gives none:
   * `withCallIds` puts ours in its place.
   */
  readonly content: Content;
  /** `tool_calls` whenever there are calls. */
  readonly finishReason: FinishReason;
  readonly usage?: Usage;
  readonly providerMetadata?: ProviderMetadata;
};
