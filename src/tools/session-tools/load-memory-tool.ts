import { contentText, checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { asText } from './as-text.ts';
import type { Tool } from '../tool/tool.ts';
import { tool } from '../tool/tool.ts';

/** Options of `loadMemoryTool`. */
export interface LoadMemoryOptions {
  /** Maximum number of memory entries that the tool returns. Default: 10. */
  readonly limit?: number;
}

/** The options of `loadMemoryTool`. */
export const LOAD_MEMORY_OPTIONS: OptionTable = optionTable<LoadMemoryOptions>('loadMemoryTool', {
  limit: true,
});

/**
 * Creates the tool `load_memory`, which searches the memory of the user's sessions. `limit` is the
 * largest number of entries. Default: 10. If nothing matches, the result says so.
 */
export function loadMemoryTool(options: LoadMemoryOptions = {}): Tool {
  checkOptions(LOAD_MEMORY_OPTIONS, options);
  const { limit = 10 } = options;
  return tool({
    name: 'load_memory',
    description:
      'Finds what was said in earlier conversations with this user, by words of a query.',
    parameters: {
      type: 'object',
      properties: { query: { type: 'string', description: 'What to look for.' } },
      required: ['query'],
    },
    readOnly: true,
    execute: async ({ query }, { memory }) => {
      const text = asText(query);
      const found = await memory.search(text, { limit });
      const memories = found.map(({ author, at, content }) => ({
        author,
        at: new Date(at).toISOString(),
        text: contentText(content),
      }));
      return memories.length === 0
        ? { memories, message: `No memories match ${JSON.stringify(text)}.` }
        : { memories };
    },
  });
}
