import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { tool } from '@langchain/core/tools';
import { Command, interrupt, MemorySaver } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import { SqliteAdapter } from '../sqlite-adapter.ts';
import type { AgentOptions, Answer, Peer, PeerAgent, Script } from '../peer.ts';

export const langgraph: Peer = {
  name: '@langchain/langgraph',
  packages: ['@langchain/langgraph', '@langchain/core', 'zod'],
  entries: [
    '@langchain/langgraph',
    '@langchain/langgraph/prebuilt',
    '@langchain/core/tools',
    'zod',
  ],
  durable: "`SqliteSaver`, WAL, `synchronous=FULL`, `durability: 'sync'`",
  open: async (options) => openAgent(options),
};

async function openAgent(options: AgentOptions): Promise<PeerAgent> {
  const { script, readFile, file, needsApproval = false } = options;
  const checkpointer = file === undefined ? new MemorySaver() : await openSaver(file);
  const agent = createReactAgent({
    llm: new ScriptedChatModel(script),
    prompt: 'Be brief.',
    tools: [
      tool(
        async ({ path }: { path: string }, config) => {
          if (needsApproval && interrupt('May the file be read?') !== true) return 'No.';
          return JSON.stringify({ text: await readFile(path, config.signal) });
        },
        {
          name: 'read_file',
          description: 'Reads a file',
          schema: z.object({ path: z.string() }),
        },
      ),
    ],
    checkpointer,
    version: 'v2',
  });
  const configFor = (thread_id: string, signal?: AbortSignal): object => ({
    configurable: { thread_id },
    durability: 'sync',
    ...(signal !== undefined && { signal }),
  });
  return {
    ask: async (session, message, { onText, signal } = {}) => {
      const input = { messages: [{ role: 'user', content: message }] };
      if (onText === undefined) {
        const { messages } = await agent.invoke(input, configFor(session, signal));
        return messages.at(-1)?.text ?? '';
      }
      let text = '';
      const stream = await agent.stream(input, { ...configFor(session), streamMode: 'messages' });
      for await (const [chunk] of stream) {
        if (!AIMessageChunk.isInstance(chunk) || chunk.text === '') continue;
        onText(chunk.text);
        text += chunk.text;
      }
      return text;
    },
    stored: async (session) => {
      const { values, tasks } = await agent.getState(configFor(session));
      const pending = await checkpointer.getTuple(configFor(session));
      return JSON.stringify({ values, tasks, writes: pending?.pendingWrites });
    },
    approve: async (session, ready) => {
      const { tasks } = await agent.getState(configFor(session));
      if (!tasks.some(({ interrupts }) => interrupts.length > 0)) throw new Error('No call waits.');
      await ready();
      await agent.invoke(new Command({ resume: true }), configFor(session));
    },
    resume: async (session) => {
      await agent.invoke(null, configFor(session));
    },
    close: async () => undefined,
  };
}

/** Only where it is needed: the file of the saver is not part of a program in memory. */
async function openSaver(file: string): Promise<MemorySaver> {
  const { SqliteSaver } = await import('@langchain/langgraph-checkpoint-sqlite');
  const saver = new SqliteSaver(new SqliteAdapter(file) as never);
  return saver as unknown as MemorySaver;
}

class ScriptedChatModel extends BaseChatModel {
  readonly #script: Script;
  #calls = 0;

  constructor(script: Script) {
    super({});
    this.#script = script;
  }

  override _llmType(): string {
    return 'scripted';
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const answer = this.#next(messages);
    if ('text' in answer) {
      const text = answer.text.join('');
      return { generations: [{ text, message: new AIMessage(text) }] };
    }
    const tool_calls = answer.paths.map((path) => ({
      id: `call-${this.#calls++}`,
      name: 'read_file',
      args: { path },
    }));
    return { generations: [{ text: '', message: new AIMessage({ content: '', tool_calls }) }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const answer = this.#next(messages);
    if ('paths' in answer) {
      const tool_call_chunks = answer.paths.map((path, index) => ({
        id: `call-${this.#calls++}`,
        index,
        name: 'read_file',
        args: JSON.stringify({ path }),
      }));
      const message = new AIMessageChunk({ content: '', tool_call_chunks });
      yield new ChatGenerationChunk({ text: '', message });
      return;
    }
    for (const text of answer.text) {
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk(text) });
      yield chunk;
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, {
        chunk,
      });
    }
  }

  #next(messages: BaseMessage[]): Answer {
    return messages.at(-1)?.type === 'tool' ? this.#script.afterResults : this.#script.afterMessage;
  }
}
