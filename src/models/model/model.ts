import type {
  Content,
  FinishReason,
  FiringId,
  JsonObject,
  ProviderMetadata,
  Usage,
} from '../../core/index.ts';
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

/**
 * Wishes of the caller. A model that cannot grant one refuses the request with `UnsupportedFeatureError`, unless
 * `onUnsupported` says otherwise: a wish that changes nothing should be known to.
 */
export type GenerationConfig = {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly maxOutputTokens?: number;
  readonly stopSequences?: readonly string[];
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly seed?: number;
  /** The answer's text is JSON. Implied by `responseSchema`. */
  readonly json?: boolean;
  /** The answer's text is JSON of this schema. */
  readonly responseSchema?: JsonSchema;
  readonly thinking?: ThinkingConfig;
  readonly cache?: CacheConfig;
  /** Whether to call tools: as the model likes (when missing), not at all, at least one, or this one. */
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly tool: string };
  /** Whether one answer may hold several calls. The provider decides when missing. */
  readonly parallelToolCalls?: boolean;
  /** `fast` asks for the provider's quicker and dearer service. */
  readonly speed?: 'fast' | 'standard';
  /** Passed to the provider as they are, by the provider package's name for it. The last word on anything above. */
  readonly providerOptions?: { readonly [provider: string]: JsonObject };
  /** What to do with a wish that cannot be granted. `refuse` when missing; `warn` names it in `providerMetadata.warnings`. */
  readonly onUnsupported?: 'refuse' | 'warn';
};

/** How much to think, by word or by number, and whether to show it. */
export type ThinkingConfig = {
  readonly effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  readonly budgetTokens?: number;
  /** Stream a summary of the thinking, where the provider does not do so by itself. */
  readonly show?: boolean;
};

/** Hints for the provider's cache of prompts. They change cost and speed, never the answer. */
export type CacheConfig = {
  /** What stays the same from call to call: the instruction with the tools, or the conversation so far as well. */
  readonly prefix?: 'instruction' | 'conversation';
  /** Requests with the same key are sent where the same cache is. */
  readonly key?: string;
  /** `long` keeps it an hour or more instead of some minutes. */
  readonly retention?: 'short' | 'long';
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
