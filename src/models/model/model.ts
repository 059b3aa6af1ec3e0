import type {
  Content,
  FinishReason,
  FiringId,
  JsonObject,
  ProviderMetadata,
  Usage,
} from '../../core/index.ts';
import type { JsonSchema, ToolDeclaration } from './tool-declaration.ts';

/** A language model. The rest of Petrichor knows providers only through this interface. */
export interface Model {
  readonly name: string;
  /**
   * Sends one request; the caller retries. It settles soon after `context.signal` aborts. A
   * truncated response is an error, never a shorter response.
   * @throws ModelError
   */
  readonly generate: (request: ModelRequest, context: ModelContext) => Promise<ModelResponse>;
}

/** Everything that determines the response. */
export type ModelRequest = {
  readonly instruction?: string;
  /** Oldest first. The results of calls follow the message that made the calls. */
  readonly contents: readonly Content[];
  readonly tools: readonly ToolDeclaration[];
  readonly config?: GenerationConfig;
};

/**
 * Generation options. A model that does not support one rejects the request with
 * `UnsupportedFeatureError`, unless `onUnsupported` is `warn`, because an ignored option should not
 * go unnoticed.
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
  /** The response text is JSON. Implied by `responseSchema`. */
  readonly json?: boolean;
  /** The response text is JSON that matches this schema. */
  readonly responseSchema?: JsonSchema;
  readonly thinking?: ThinkingConfig;
  readonly cache?: CacheConfig;
  /**
   * Whether to call tools: as the model decides, not at all, at least one, or this one. Default:
   * `auto`.
   */
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly tool: string };
  /** Whether one response may contain several calls. Default: the provider's. */
  readonly parallelToolCalls?: boolean;
  /** `fast` requests the provider's faster and more expensive service. */
  readonly speed?: 'fast' | 'standard';
  /**
   * Passed to the provider unchanged, by the name that the provider package uses. It overrides
   * every option above.
   */
  readonly providerOptions?: { readonly [provider: string]: JsonObject };
  /**
   * What to do with an unsupported option: reject the request, or list it in
   * `providerMetadata.warnings`. Default: `refuse`.
   */
  readonly onUnsupported?: 'refuse' | 'warn';
};

/** How much to think, as a level or a token budget, and whether to show it. */
export type ThinkingConfig = {
  readonly effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  readonly budgetTokens?: number;
  /** Streams a summary of the thinking, where the provider does not do so by default. */
  readonly show?: boolean;
};

/** Hints for the provider's prompt cache. They change cost and speed, never the response. */
export type CacheConfig = {
  /**
   * What stays the same across calls: the instruction with the tools, or also the conversation so
   * far.
   */
  readonly prefix?: 'instruction' | 'conversation';
  /** Requests with the same key are routed to the same cache. */
  readonly key?: string;
  /** `long` keeps the cache for an hour or more instead of some minutes. */
  readonly retention?: 'short' | 'long';
};

/** The context of a call: what does not determine the response. */
export interface ModelContext {
  readonly signal: AbortSignal;
  /**
   * Shows a piece of the response before it is complete. Deltas may be lost, and are void if the
   * call fails.
   */
  readonly onDelta: (delta: ModelDelta) => void;
  /** Stable over retries and crashes: usable as an idempotency key of the provider. */
  readonly firingId: FiringId;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** A piece of a response. */
export type ModelDelta = { readonly kind: 'text' | 'thinking'; readonly text: string };

/** A complete response. */
export type ModelResponse = {
  /**
   * Its role is `model`. The `id` of a call is the provider's, or empty if it gives none;
   * `withCallIds` replaces it.
   */
  readonly content: Content;
  /** `tool_calls` whenever there are calls. */
  readonly finishReason: FinishReason;
  readonly usage?: Usage;
  readonly providerMetadata?: ProviderMetadata;
};
