import { z } from 'zod';
import type { AgentOptions, Answer, Peer, PeerAgent } from '../peer.ts';
import { petrichorEntry } from '../petrichor-package.ts';

export const petrichor: Peer = {
  name: 'petrichor',
  packages: ['petrichor', 'zod'],
  entries: ['petrichor', 'zod'],
  durable: '`sqlite:`, WAL, `synchronous=FULL`',
  open: async (options) => openAgent(options),
};

/** Pieces of text that arrive together. */
const PACKET = 50;

async function openAgent(options: AgentOptions): Promise<PeerAgent> {
  const { script, readFile, file, needsApproval = false } = options;
  // The packed package, as a user has it.
  const { agent, openRuntime, tool } = (await import(petrichorEntry)) as typeof import('petrichor');
  const assistant = agent({
    name: 'assistant',
    instruction: 'Be brief.',
    model: {
      name: 'scripted',
      generate: async ({ contents }, { onDelta }) => {
        const answer: Answer =
          contents.at(-1)?.role === 'tool' ? script.afterResults : script.afterMessage;
        if ('paths' in answer) {
          const parts = answer.paths.map((path) => ({
            functionCall: { id: '', name: 'read_file', args: { path } },
          }));
          return { content: { role: 'model', parts }, finishReason: 'tool_calls' };
        }
        for (const [index, text] of answer.text.entries()) {
          onDelta({ kind: 'text', text });
          // A provider sends packets. Between them the consumer gets what has arrived; the other packages have streams
          // here, which wait for the consumer by themselves.
          if (index % PACKET === PACKET - 1) await new Promise(setImmediate);
        }
        return {
          content: { role: 'model', parts: [{ text: answer.text.join('') }] },
          finishReason: 'stop',
        };
      },
    },
    tools: [
      tool({
        name: 'read_file',
        description: 'Reads a file',
        parameters: z.object({ path: z.string() }),
        readOnly: true,
        needsApproval,
        execute: async ({ path }, { signal }) => ({ text: await readFile(path, signal) }),
      }),
    ],
  });
  const store = file === undefined ? 'memory:' : `sqlite:${file}`;
  const runtime = await openRuntime({ agents: [assistant], store });
  return {
    ask: async (id, message, { onText, signal } = {}) => {
      const session = await runtime.session(id);
      if (onText === undefined && signal === undefined && !needsApproval)
        return session.ask(message);
      signal?.addEventListener('abort', () => void session.interrupt());
      let text = '';
      for await (const event of session.send(message)) {
        if (event.type !== 'partial') continue;
        onText?.(event.text);
        text += event.text;
      }
      return text;
    },
    stored: async (id) => {
      const events: object[] = [];
      const session = await runtime.session(id);
      const { lastSeq } = await session.status();
      for await (const event of session.events(0)) {
        events.push(event);
        if ('seq' in event && event.seq >= lastSeq) break;
      }
      return JSON.stringify(events);
    },
    approve: async (id, ready) => {
      const session = await runtime.session(id);
      const [call] = await session.pending();
      if (call === undefined) throw new Error('No call waits.');
      await ready();
      for await (const event of session.approve(call.id, { fingerprint: call.fingerprint }))
        void event;
    },
    close: async () => runtime.close(),
  };
}
