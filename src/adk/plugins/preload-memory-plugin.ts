import { contentText } from '../../core/index.ts';
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

/**
 * Creates a callback that searches the memory for the user's message and adds the entries found to the model's
 * instruction. The conversation is not changed.
 */
export function preloadMemory({
  limit = DEFAULT_LIMIT,
}: PreloadMemoryOptions = {}): BeforeModelCallback {
  return async ({ context, request }) => {
    await addMemories(context, request, limit);
  };
}

/** Adds `preloadMemory` to every agent of an app. */
export class PreloadMemoryPlugin extends BasePlugin {
  readonly #limit: number;

  constructor({
    limit = DEFAULT_LIMIT,
    name = 'preload_memory',
  }: PreloadMemoryOptions & { readonly name?: string } = {}) {
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
