import {
  BaseLlm,
  type BaseLlmConnection,
  type BaseSessionService,
  DatabaseSessionService,
  type Event,
  FunctionTool,
  getPendingUserInputRequests,
  InMemorySessionService,
  LlmAgent,
  type LlmRequest,
  type LlmResponse,
  Runner,
  setLogger,
  StreamingMode,
} from '@google/adk';
import { z } from 'zod';
import { SqliteAdapter } from '../sqlite-adapter.ts';
import type { AgentOptions, Peer, PeerAgent, Script } from '../peer.ts';

export const googleAdk: Peer = {
  name: '@google/adk',
  packages: ['@google/adk'],
  entries: ['@google/adk', 'zod'],
  durable: '`DatabaseSessionService` with `@mikro-orm/sqlite`, WAL, `synchronous=FULL`',
  open: async (options) => openAgent(options),
};

const KEY = { appName: 'bench', userId: 'ada' };

function openAgent({ script, readFile, file, needsApproval = false }: AgentOptions): PeerAgent {
  setLogger(null);
  const sessionService: BaseSessionService =
    file === undefined ? new InMemorySessionService() : openSessions(file);
  const agent = new LlmAgent({
    name: 'assistant',
    instruction: 'Be brief.',
    model: new ScriptedLlm(script),
    tools: [
      new FunctionTool({
        name: 'read_file',
        description: 'Reads a file',
        parameters: z.object({ path: z.string() }),
        ...(needsApproval && { requireConfirmation: true }),
        execute: async ({ path }, context) => ({
          text: await readFile(path, context?.abortSignal),
        }),
      }),
    ],
  });
  const runner = new Runner({ appName: KEY.appName, agent, sessionService });
  const known = new Set<string>();
  const open = async (sessionId: string): Promise<void> => {
    if (known.has(sessionId)) return;
    known.add(sessionId);
    const key = { ...KEY, sessionId };
    if (file === undefined || (await sessionService.getSession(key)) === undefined)
      await sessionService.createSession(key);
  };
  const run = (
    sessionId: string,
    parts: object[],
    streaming: boolean,
    signal?: AbortSignal,
  ): AsyncIterable<Event> =>
    runner.runAsync({
      userId: KEY.userId,
      sessionId,
      newMessage: { role: 'user', parts },
      ...(streaming && { runConfig: { streamingMode: StreamingMode.SSE } }),
      ...(signal !== undefined && { abortSignal: signal }),
    });
  return {
    ask: async (session, message, { onText, signal } = {}) => {
      await open(session);
      let text = '';
      for await (const event of run(session, [{ text: message }], onText !== undefined, signal)) {
        for (const part of event.content?.parts ?? []) {
          if (part.text === undefined) continue;
          if (event.partial === true) onText?.(part.text);
          else text = part.text;
        }
      }
      return text;
    },
    stored: async (sessionId) =>
      JSON.stringify((await sessionService.getSession({ ...KEY, sessionId }))?.events ?? []),
    approve: async (sessionId, ready) => {
      const stored = await sessionService.getSession({ ...KEY, sessionId });
      const requests = getPendingUserInputRequests(stored?.events ?? []);
      if (requests.length === 0) throw new Error('No call waits.');
      await ready();
      const parts = requests.map(({ interruptId, functionCallName }) => ({
        functionResponse: {
          id: interruptId,
          name: functionCallName,
          response: { confirmed: true },
        },
      }));
      for await (const event of run(sessionId, parts, false)) void event;
    },
    close: async () => undefined,
  };
}

function openSessions(file: string): DatabaseSessionService {
  // The file keeps its write-ahead log; the driver has no option for it.
  new SqliteAdapter(file).close();
  return new DatabaseSessionService(`sqlite://${file}`);
}

class ScriptedLlm extends BaseLlm {
  readonly #script: Script;

  constructor(script: Script) {
    super({ model: 'scripted' });
    this.#script = script;
  }

  override async *generateContentAsync(
    { contents }: LlmRequest,
    stream?: boolean,
  ): AsyncGenerator<LlmResponse, void> {
    const isResult = contents.at(-1)?.parts?.some(({ functionResponse }) => functionResponse);
    const answer = isResult === true ? this.#script.afterResults : this.#script.afterMessage;
    if ('paths' in answer) {
      const parts = answer.paths.map((path) => ({
        functionCall: { name: 'read_file', args: { path } },
      }));
      yield { content: { role: 'model', parts } };
      return;
    }
    if (stream === true)
      for (const text of answer.text)
        yield { content: { role: 'model', parts: [{ text }] }, partial: true };
    yield { content: { role: 'model', parts: [{ text: answer.text.join('') }] } };
  }

  override async connect(): Promise<BaseLlmConnection> {
    throw new Error('The script has no live connection.');
  }
}
