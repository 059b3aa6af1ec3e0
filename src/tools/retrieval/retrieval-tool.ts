import { checkDefinition, optionTable } from '../../core/internal.ts';
import { InvalidInputError, type OptionTable } from '../../core/index.ts';
import { tool, type Tool } from '../tool/tool.ts';
import type { Retriever } from './retriever.ts';

/** Options of `retrievalTool`. */
export interface RetrievalToolDefinition {
  readonly name: string;
  /** Tells the model what can be found, and when to look. */
  readonly description: string;
  readonly retriever: Retriever;
  /** The most passages of one call. Default: 5. */
  readonly limit?: number;
}

/** The options of `retrievalTool`. */
export const RETRIEVAL_TOOL_OPTIONS: OptionTable = optionTable<RetrievalToolDefinition>(
  'retrievalTool',
  { name: true, description: true, retriever: true, limit: true },
);

const DEFAULT_LIMIT = 5;

/**
 * Creates a tool with which the model finds passages. It is read-only: after a crash it runs again.
 * @throws InvalidToolError for an invalid name or description
 * @throws InvalidInputError if `limit` is not a whole number above 0, or `retriever` has no `retrieve`
 */
export function retrievalTool(definition: RetrievalToolDefinition): Tool {
  checkDefinition(RETRIEVAL_TOOL_OPTIONS, definition);
  const { name, description, retriever, limit = DEFAULT_LIMIT } = definition;
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new InvalidInputError('limit', `must be a whole number above 0; it is ${String(limit)}.`);
  if (typeof Reflect.get(Object(retriever), 'retrieve') !== 'function')
    throw new InvalidInputError('retriever', 'must be an object with a function retrieve.');
  return tool({
    name,
    description,
    parameters: {
      type: 'object',
      properties: { query: { type: 'string', description: 'The query to retrieve.' } },
      required: ['query'],
    },
    readOnly: true,
    execute: async ({ query }, { signal }) => {
      const passages = await retriever.retrieve(typeof query === 'string' ? query : '', {
        limit,
        signal,
      });
      return { passages: passages.slice(0, limit) };
    },
  });
}
