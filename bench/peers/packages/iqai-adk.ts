import {
  BaseLlm,
  DatabaseSessionService,
  createTool,
  type Event,
  InMemorySessionService,
  LlmAgent,
  type LlmRequest,
  LlmResponse,
  RunConfig,
  Runner,
  StreamingMode,
} from '@iqai/adk';
import { Kysely, SqliteDialect } from 'kysely';
import { z } from 'zod';
import { SqliteAdapter } from '../sqlite-adapter.ts';
import type { AgentOptions, Peer, PeerAgent, Script } from '../peer.ts';

export const iqaiAdk: Peer = {
  name: '@iqai/adk',
  // langfuse is declared as optional, but imported at once.
  packages: ['@iqai/adk', 'langfuse'],
  entries: ['@iqai/adk', 'zod'],
  durable: '`DatabaseSessionService`, WAL, `synchronous=FULL`',
  open: async (options) => openAgent(options),
};

const APP = 'bench';
const USER = 'ada';

function openAgent({ script, readFile, file }: AgentOptions): PeerAgent {
  const sessionService = file === undefined ? new InMemorySessionService() : openSessions(file);
  const agent = new LlmAgent({
    name: 'assistant',
    description: 'Answers questions',
    instruction: 'Be brief.',
    model: new ScriptedLlm(script),
    tools: [
      createTool({
        name: 'read_file',
        description: 'Reads a file',
        schema: z.object({ path: z.string() }),
        fn: async ({ path }) => ({ text: await readFile(path, undefined) }),
      }),
    ],
  });
  const runner = new Runner({ appName: APP, agent, sessionService });
  const known = new Set<string>();
  const open = async (id: string): Promise<void> => {
    if (known.has(id)) return;
    known.add(id);
    if (file === undefined || (await sessionService.getSession(APP, USER, id)) === undefined)
      await sessionService.createSession(APP, USER, {}, id);
  };
  const run = (sessionId: string, text: string, streaming: boolean): AsyncIterable<Event> =>
    runner.runAsync({
      userId: USER,
      sessionId,
      newMessage: { role: 'user', parts: [{ text }] },
      ...(streaming && { runConfig: new RunConfig({ streamingMode: StreamingMode.SSE }) }),
    });
  return {
    ask: async (session, message, { onText } = {}) => {
      await open(session);
      let text = '';
      for await (const event of run(session, message, onText !== undefined)) {
        for (const part of event.content?.parts ?? []) {
          if (part.text === undefined) continue;
          if (event.partial === true) onText?.(part.text);
          else text = part.text;
        }
      }
      return text;
    },
    stored: async (id) =>
      JSON.stringify((await sessionService.getSession(APP, USER, id))?.events ?? []),
    close: async () => undefined,
  };
}

/** What `createSqliteSessionService` does, with another binding of SQLite. */
function openSessions(file: string): DatabaseSessionService {
  const database = new SqliteAdapter(file) as never;
  const db = new Kysely({ dialect: new SqliteDialect({ database }) });
  // The package has a declaration of Kysely for CommonJS.
  return new DatabaseSessionService({ db: db as never });
}

class ScriptedLlm extends BaseLlm {
  readonly #script: Script;

  constructor(script: Script) {
    super('scripted');
    this.#script = script;
  }

  protected override async *generateContentAsyncImpl(
    { contents }: LlmRequest,
    stream?: boolean,
  ): AsyncGenerator<LlmResponse, void> {
    const isResult = contents?.at(-1)?.parts?.some(({ functionResponse }) => functionResponse);
    const answer = isResult === true ? this.#script.afterResults : this.#script.afterMessage;
    if ('paths' in answer) {
      const parts = answer.paths.map((path) => ({
        functionCall: { name: 'read_file', args: { path } },
      }));
      yield new LlmResponse({ content: { role: 'model', parts } });
      return;
    }
    if (stream === true)
      for (const text of answer.text)
        yield new LlmResponse({ content: { role: 'model', parts: [{ text }] }, partial: true });
    yield new LlmResponse({ content: { role: 'model', parts: [{ text: answer.text.join('') }] } });
  }
}
