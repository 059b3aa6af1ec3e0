import { checkDefinition, omitUndefined } from '../../core/internal.ts';
import { contentText, InvalidInputError, optionTable } from '../../core/index.ts';
import type { OptionTable, SessionKey } from '../../core/index.ts';
import type { MemoryEntry, MemoryService } from '../../tools/index.ts';
import { AgentEngine, REQUEST_TIMEOUT_MS } from './agent-engine.ts';
import type { AgentEngineOptions } from './agent-engine.ts';
import { readId } from './agent-engine-sessions.ts';

/** The options of `VertexAiMemoryBankService`. */
export const VERTEX_AI_MEMORY_BANK_OPTIONS: OptionTable = optionTable<AgentEngineOptions>(
  'VertexAiMemoryBankService',
  { projectId: true, location: true, agentEngineId: true, apiEndpoint: true, client: true },
  { project: 'projectId', expressModeApiKey: 'client' },
);

const DEFAULT_LIMIT = 10;
const httpOptions = { timeout: REQUEST_TIMEOUT_MS };

/**
 * Memory in the Memory Bank of an Agent Engine of Vertex AI. It generates facts from what was said, with a model of
 * Google, and finds them by meaning. Facts of an app and a user are kept apart from those of others, with the scope that
 * ADK uses.
 *
 * `add` returns when the messages are accepted; the facts are found some time later. Facts have no order of messages:
 * their `author` is `user`, and their time is that of their last change. Messages that are added twice, as after a crash,
 * are consolidated by Memory Bank.
 *
 * Methods reject with `VertexAiRequestError` if a request fails and with `MissingVertexAiPackageError` if the client, the
 * optional peer `@google-cloud/vertexai`, is not installed.
 * @throws InvalidInputError, UnknownFieldError if the options are invalid
 * @example
 * const memoryService = new VertexAiMemoryBankService({
 *   projectId: 'my-project',
 *   location: 'us-central1',
 *   agentEngineId: '456',
 * });
 */
export class VertexAiMemoryBankService implements MemoryService {
  readonly #engine: AgentEngine;
  readonly #name: string;

  constructor(options: AgentEngineOptions) {
    checkDefinition(VERTEX_AI_MEMORY_BANK_OPTIONS, options);
    if (options.agentEngineId === undefined)
      throw new InvalidInputError('agentEngineId', 'is required: pass the id of an Agent Engine.');
    this.#engine = new AgentEngine(options);
    this.#name = this.#engine.resourceName('');
  }

  readonly add: MemoryService['add'] = async (session, entries) => {
    const events = entries
      .map(({ author, content }) => ({
        content: {
          role: author === 'user' ? 'user' : 'model',
          parts: [{ text: contentText(content) }],
        },
      }))
      .filter(({ content }) => content.parts.some(({ text }) => text.trim() !== ''));
    if (events.length === 0) return;
    await this.#engine.call('generate memories', async ({ memories }) =>
      memories.generateInternal({
        name: this.#name,
        directContentsSource: { events },
        scope: toScope(session),
        config: { httpOptions, waitForCompletion: false },
      }),
    );
  };

  readonly search: MemoryService['search'] = async (owner, query, options = {}) => {
    const { limit: topK = DEFAULT_LIMIT } = options;
    if (query.trim() === '' || topK === 0) return [];
    const { retrievedMemories } = await this.#engine.call(
      'retrieve memories',
      async ({ memories }) =>
        memories.retrieveInternal({
          name: this.#name,
          scope: toScope(owner),
          similaritySearchParams: { searchQuery: query, topK },
          config: { httpOptions },
        }),
    );
    return (retrievedMemories ?? []).flatMap(({ memory }) =>
      toMemoryEntries(omitUndefined({ ...memory })),
    );
  };
}

/** The scope with which ADK keeps memories. */
function toScope({ appName, userId }: Pick<SessionKey, 'appName' | 'userId'>): {
  readonly app_name: string;
  readonly user_id: string;
} {
  return { app_name: appName, user_id: userId };
}

function toMemoryEntries(memory: {
  readonly name?: string;
  readonly fact?: string;
  readonly updateTime?: string;
}): readonly MemoryEntry[] {
  const { name, fact = '', updateTime = '' } = memory;
  const at = Date.parse(updateTime);
  if (fact.trim() === '') return [];
  return [
    {
      id: readId(name),
      author: 'user',
      at: Number.isNaN(at) ? 0 : at,
      content: { role: 'user', parts: [{ text: fact }] },
    },
  ];
}
