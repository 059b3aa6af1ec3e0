import { contentText } from '../../core/index.ts';
import type { MemoryEntry } from '../../tools/index.ts';
import type { BeforeModelCallback, LlmRequest } from '../contracts/agent-callbacks.ts';
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

async function addMemories(
  { memory, userContent }: CallbackContext,
  request: LlmRequest,
  limit: number,
): Promise<void> {
  const query = userContent === undefined ? '' : contentText(userContent);
  if (query.trim() === '') return;
  const found = await memory.search(query, { limit });
  if (found.length === 0) return;
  const section = [
    'These excerpts of earlier conversations with this user may be useful:',
    '<PAST_CONVERSATIONS>',
    ...found.toSorted((a, b) => a.at - b.at).map(formatEntry),
    '</PAST_CONVERSATIONS>',
  ].join('\n');
  request.instruction = [request.instruction ?? '', section].filter(Boolean).join('\n\n');
}

function formatEntry({ author, at, content }: MemoryEntry): string {
  return `${new Date(at).toISOString()} ${author}: ${contentText(content)}`;
}
