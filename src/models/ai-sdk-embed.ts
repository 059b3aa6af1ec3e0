import { checkOptions, optionTable } from '../core/internal.ts';
import type { OptionTable } from '../core/index.ts';
import { ModelError } from './model/model-error.ts';

/**
 * An embedding model of the AI SDK, of version 3 or 4 of the specification. It is recognized by its members, so no
 * package of the SDK is needed for the type.
 */
export interface EmbeddingModel {
  readonly provider: string;
  readonly modelId: string;
  /** The largest number of texts of one call; undefined for one at a time. */
  readonly maxEmbeddingsPerCall: PromiseLike<number | undefined> | number | undefined;
  doEmbed(options: {
    values: string[];
    abortSignal?: AbortSignal;
  }): PromiseLike<{ readonly embeddings: readonly (readonly number[])[] }>;
}

/** Options of `aiSdkEmbed`. */
export interface AiSdkEmbedOptions {
  /** The time limit of one call, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number;
}

/** The options of `aiSdkEmbed`. */
export const AI_SDK_EMBED_OPTIONS: OptionTable = optionTable<AiSdkEmbedOptions>('aiSdkEmbed', {
  timeoutMs: true,
});

const DEFAULT_TIMEOUT_MS = 60_000;

/**
 * Wraps an embedding model of the AI SDK as the `embed` function of a vector memory or retriever. Texts are sent in
 * groups of the size that the model allows, one after the other. It rejects with the errors of the model, and with
 * `ModelError` if the model returns another number of vectors.
 * @throws UnknownFieldError for an unknown option
 */
export function aiSdkEmbed(
  model: EmbeddingModel,
  options: AiSdkEmbedOptions = {},
): (texts: readonly string[]) => Promise<readonly (readonly number[])[]> {
  checkOptions(AI_SDK_EMBED_OPTIONS, options);
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  return async (texts) => {
    const size = Math.max(1, (await model.maxEmbeddingsPerCall) ?? 1);
    const vectors: (readonly number[])[] = [];
    for (let from = 0; from < texts.length; from += size) {
      const values = texts.slice(from, Math.min(texts.length, from + size));
      const { embeddings } = await model.doEmbed({
        values: [...values],
        abortSignal: AbortSignal.timeout(timeoutMs),
      });
      if (embeddings.length !== values.length)
        throw new ModelError({
          model: `${model.provider}/${model.modelId}`,
          kind: 'protocol',
          message: `returned ${embeddings.length} vectors for ${values.length} texts.`,
        });
      vectors.push(...embeddings);
    }
    return vectors;
  };
}
