import { contentText } from '../../core/index.ts';
import type { MemoryEntry } from '../../tools/index.ts';
import type { BeforeModelCallback, LlmRequest } from '../contracts/agent-callbacks.ts';
import { BasePlugin } from './base-plugin.ts';
import type { CallbackContext } from '../contracts/contexts.ts';

/** How much of the memory a model is told before it answers. */
export interface PreloadMemoryOptions {
  /** How many entries the model is told at most; 5 unless given. */
  readonly limit?: number;
}

const DEFAULT_LIMIT = 5;

/**
 * A callback that looks up the user's message in the memory, and tells the model what was found, in its instruction. The
 * conversation stays as it is.
 */
export function preloadMemory({
  limit = DEFAULT_LIMIT,
}: PreloadMemoryOptions = {}): BeforeModelCallback {
  return async ({ context, request }) => {
    await addMemories(context, request, limit);
  };
}

/** The same for every agent of an app. */
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
    'What follows was said in earlier conversations with this user, and may be of use:',
    '<PAST_CONVERSATIONS>',
    ...found.toSorted((a, b) => a.at - b.at).map(formatEntry),
    '</PAST_CONVERSATIONS>',
  ].join('\n');
  request.instruction = [request.instruction ?? '', section].filter(Boolean).join('\n\n');
}

function formatEntry({ author, at, content }: MemoryEntry): string {
  return `${new Date(at).toISOString()} ${author}: ${contentText(content)}`;
}
