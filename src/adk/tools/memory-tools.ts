// The texts of this file are those of Google's Agent Development Kit. See NOTICE.

import { isTextPart } from '../../core/index.ts';
import type { Content } from '../../core/index.ts';
import { NoServiceError, tool } from '../../tools/index.ts';
import type { Tool } from '../../tools/index.ts';
import { appendInstruction } from '../contracts/model-middleware.ts';
import { addMemories } from '../plugins/preload-memory-plugin.ts';
import type { CompilableTool, RequestTool, ToolRequestParams } from './compile-context.ts';

const LOAD_MEMORY_INSTRUCTION = `You have memory. You can use it to answer questions. If any questions need
you to look up the memory, you should call load_memory function with a query.`;

/** Lets the model search the memory, with ADK's declaration, instruction and result. */
export class LoadMemoryTool implements CompilableTool {
  readonly name = 'load_memory';

  processLlmRequest({ llmRequest }: ToolRequestParams): void {
    appendInstruction(llmRequest, LOAD_MEMORY_INSTRUCTION);
  }

  async compileTool(): Promise<Tool> {
    return tool({
      name: this.name,
      description:
        'Loads the memory for the current user.\n\nNOTE: Currently this tool only uses text part from the memory.',
      parameters: {
        type: 'object',
        properties: {
          query: { type: 'string', description: 'The query to load the memory for.' },
        },
        required: ['query'],
      },
      readOnly: true,
      execute: async ({ query }, { memory }) => {
        const found = await memory.search(typeof query === 'string' ? query : '');
        return {
          memories: found.map(({ author, at, content }) => ({
            content: joinTexts(content),
            author,
            timestamp: new Date(at).toISOString(),
          })),
        };
      },
    });
  }
}

/** Adds what the memory says about the user's message to the instruction of each request. */
export class PreloadMemoryTool implements RequestTool {
  readonly name = 'preload_memory';

  async processLlmRequest({ toolContext, llmRequest }: ToolRequestParams): Promise<void> {
    try {
      await addMemories(toolContext, llmRequest);
    } catch (error) {
      // As in ADK, an agent without a memory goes on without it.
      if (!(error instanceof NoServiceError)) throw error;
    }
  }
}

/** The tool `load_memory`. */
export const LOAD_MEMORY: LoadMemoryTool = new LoadMemoryTool();
/** The tool `preload_memory`. */
export const PRELOAD_MEMORY: PreloadMemoryTool = new PreloadMemoryTool();

function joinTexts({ parts }: Content): string {
  return parts.map((part) => (isTextPart(part) ? part.text : '')).join(' ');
}
