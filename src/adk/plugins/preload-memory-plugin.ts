import { contentText, checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import type { MemoryEntry } from '../../tools/index.ts';
import type { BeforeModelCallback, LlmRequest } from '../contracts/agent-callbacks.ts';
import { appendInstruction } from '../contracts/model-middleware.ts';
import { BasePlugin } from './base-plugin.ts';
import type { CallbackContext } from '../contracts/contexts.ts';

/** Options of `preloadMemory`. */
export interface PreloadMemoryOptions {
  /** Maximum number of memory entries added to the instruction. Default: 5. */
  readonly limit?: number;
}

const DEFAULT_LIMIT = 5;

/** The options of `preloadMemory`. */
export const PRELOAD_MEMORY_OPTIONS: OptionTable = optionTable<PreloadMemoryOptions>(
  'preloadMemory',
  {
    limit: true,
  },
);

/**
 * Creates a callback that searches the memory for the user's message and adds the entries found to the model's
 * instruction. The conversation is not changed.
 */
export function preloadMemory(options: PreloadMemoryOptions = {}): BeforeModelCallback {
  checkOptions(PRELOAD_MEMORY_OPTIONS, options);
  const { limit = DEFAULT_LIMIT } = options;
  return async ({ context, request }) => {
    await addMemories(context, request, limit);
  };
}

/** Options of `PreloadMemoryPlugin`. */
export interface PreloadMemoryPluginOptions extends PreloadMemoryOptions {
  /** Default: `preload_memory`. */
  readonly name?: string;
}

/** The options of `PreloadMemoryPlugin`. */
export const PRELOAD_MEMORY_PLUGIN_OPTIONS: OptionTable = optionTable<PreloadMemoryPluginOptions>(
  'PreloadMemoryPlugin',
  {
    limit: true,
    name: true,
  },
);

/** Adds `preloadMemory` to every agent of an app. */
export class PreloadMemoryPlugin extends BasePlugin {
  readonly #limit: number;

  constructor(options: PreloadMemoryPluginOptions = {}) {
    if (new.target === PreloadMemoryPlugin) checkOptions(PRELOAD_MEMORY_PLUGIN_OPTIONS, options);
    const { limit = DEFAULT_LIMIT, name = 'preload_memory' } = options;
    super(name);
    this.#limit = limit;
  }

  override async beforeModelCallback({
    callbackContext,
    llmRequest,
  }: {
    readonly callbackContext: CallbackContext;
    readonly llmRequest: LlmRequest;
  }): Promise<undefined> {
    await addMemories(callbackContext, llmRequest, this.#limit);
  }
}

/**
 * Adds the memories that match the user's message to the instruction of a request, in the words of ADK.
 * @throws NoServiceError if the runner has no memory service
 */
export async function addMemories(
  { memory, userContent }: CallbackContext,
  request: LlmRequest,
  limit: number = DEFAULT_LIMIT,
): Promise<void> {
  const query = userContent === undefined ? '' : contentText(userContent);
  if (query.trim() === '') return;
  const found = await memory.search(query, { limit });
  if (found.length === 0) return;
  appendInstruction(
    request,
    `The following content is from your previous conversations with the user.
They may be useful for answering the user's current query.
<PAST_CONVERSATIONS>
${found
  .toSorted((a, b) => a.at - b.at)
  .map(formatEntry)
  .join('\n')}
</PAST_CONVERSATIONS>
`,
  );
}

function formatEntry({ author, at, content }: MemoryEntry): string {
  return `Time: ${new Date(at).toISOString()}\n${author}: ${contentText(content)}`;
}
