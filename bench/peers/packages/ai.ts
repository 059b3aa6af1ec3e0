import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { generateText, isStepCount, type ModelMessage, streamText, tool } from 'ai';
import { z } from 'zod';
import type { AgentOptions, Peer, PeerAgent } from '../peer.ts';
import { scriptedLanguageModel } from './scripted-language-model.ts';

/** The program keeps the messages: the package has no sessions. With a file, it writes them there, for the approval only. */
export const ai: Peer = {
  name: 'ai',
  packages: ['ai', 'zod'],
  entries: ['ai', 'zod'],
  open: async (options) => openAgent(options),
};

function openAgent({ script, readFile, file, needsApproval = false }: AgentOptions): PeerAgent {
  const sessions = new Map<string, ModelMessage[]>();
  const settings = {
    model: scriptedLanguageModel(script),
    system: 'Be brief.',
    stopWhen: isStepCount(20),
    tools: {
      read_file: tool({
        description: 'Reads a file',
        inputSchema: z.object({ path: z.string() }),
        execute: async ({ path }, { abortSignal }) => ({ text: await readFile(path, abortSignal) }),
      }),
    },
    ...(needsApproval && { toolApproval: { read_file: 'user-approval' as const } }),
  };
  const messagesOf = (session: string): ModelMessage[] => {
    let messages = sessions.get(session);
    if (messages === undefined) {
      messages =
        file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
      sessions.set(session, messages as ModelMessage[]);
    }
    return messages as ModelMessage[];
  };
  const run = async (messages: ModelMessage[], signal?: AbortSignal): Promise<string> => {
    const result = await generateText({
      ...settings,
      messages,
      ...(signal !== undefined && { abortSignal: signal }),
    });
    messages.push(...result.responseMessages);
    if (file !== undefined) writeFileSync(file, JSON.stringify(messages));
    return result.text;
  };
  return {
    ask: async (session, message, { onText, signal } = {}) => {
      const messages = messagesOf(session);
      messages.push({ role: 'user', content: message });
      if (onText === undefined) return run(messages, signal);
      const result = streamText({ ...settings, messages });
      for await (const piece of result.textStream) onText(piece);
      messages.push(...(await result.responseMessages));
      return result.text;
    },
    stored: async (session) => JSON.stringify(sessions.get(session) ?? []),
    approve: async (session, ready) => {
      const messages = messagesOf(session);
      const last = messages.at(-1)?.content ?? [];
      const requests = (typeof last === 'string' ? [] : last).filter(
        (part) => part.type === 'tool-approval-request',
      );
      await ready();
      messages.push({
        role: 'tool',
        content: requests.map(({ approvalId }) => ({
          type: 'tool-approval-response',
          approvalId,
          approved: true,
        })),
      });
      await run(messages);
    },
    close: async () => undefined,
  };
}
