import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { noopLogger } from '@mastra/core/logger';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { Memory } from '@mastra/memory';
import { z } from 'zod';
import type { AgentOptions, Peer, PeerAgent } from '../peer.ts';
import { scriptedLanguageModel } from './scripted-language-model.ts';

export const mastra: Peer = {
  name: '@mastra/core',
  packages: ['@mastra/core', '@mastra/memory', 'zod'],
  entries: ['@mastra/core/agent', '@mastra/memory', 'zod'],
  durable: '`LibSQLStore`, WAL, `synchronous=NORMAL` (fixed)',
  open: async (options) => openAgent(options),
};

async function openAgent(options: AgentOptions): Promise<PeerAgent> {
  const { script, readFile, file, needsApproval = false } = options;
  const storage = file === undefined ? new InMemoryStore() : await openStore(file);
  const agent = new Agent({
    id: 'assistant',
    name: 'assistant',
    instructions: 'Be brief.',
    // The same interface; its declaration of doGenerate names another result.
    model: scriptedLanguageModel(script) as never,
    // The whole conversation, as in the other packages. The default is the last 10 messages.
    memory: new Memory({ options: { lastMessages: 1000 } }),
    tools: {
      read_file: createTool({
        id: 'read_file',
        description: 'Reads a file',
        inputSchema: z.object({ path: z.string() }),
        requireApproval: needsApproval,
        execute: async ({ path }, context) => ({
          text: await readFile(path, context['abortSignal'] as AbortSignal | undefined),
        }),
      }),
    },
  });
  new Mastra({ agents: { assistant: agent }, storage, logger: noopLogger });
  const settings = (thread: string): object => ({
    memory: { thread, resource: 'ada' },
    maxSteps: 20,
  });
  return {
    ask: async (session, message, { onText, signal } = {}) => {
      const cancel = signal === undefined ? {} : { abortSignal: signal };
      if (onText === undefined)
        return (await agent.generate(message, { ...settings(session), ...cancel })).text;
      const stream = await agent.stream(message, settings(session));
      for await (const piece of stream.textStream) onText(piece);
      return stream.text;
    },
    stored: async (threadId) => {
      const memory = await storage.getStore('memory');
      return JSON.stringify((await memory?.listMessages({ threadId, perPage: false }))?.messages);
    },
    approve: async (threadId, ready) => {
      const { runs } = await agent.listSuspendedRuns({ threadId, resourceId: 'ada' });
      const [run] = runs;
      if (run === undefined) throw new Error('No call waits.');
      await ready();
      await agent.approveToolCallGenerate({ runId: run.runId });
    },
    close: async () => undefined,
  };
}

/** Only where it is needed: the store is not part of a program in memory. */
async function openStore(file: string): Promise<InMemoryStore> {
  const { LibSQLStore } = await import('@mastra/libsql');
  const store = new LibSQLStore({ id: 'bench', url: `file:${file}` });
  await store.init();
  return store as unknown as InMemoryStore;
}
