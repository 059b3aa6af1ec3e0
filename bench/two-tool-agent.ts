import { agent, tool } from '../src/index.ts';
import type { Agent, Model, Runtime, Session } from '../src/index.ts';
import * as z from 'zod';

const QUESTION = 'What do both chapters have in common?';
const FILES = ['docs/chapter-1.md', 'docs/chapter-2.md'];
const CHAPTER = 'It was the best of times, it was the worst of times. '.repeat(4);
const ANSWER = 'Both contrast two cities, and both begin with weather. '.repeat(4);

/** Says what the last message asks for: two calls after a message, the answer after their results. */
const model: Model = {
  name: 'scripted',
  generate: async ({ contents }) =>
    contents.at(-1)?.role === 'tool'
      ? {
          content: { role: 'model', parts: [{ text: ANSWER }] },
          finishReason: 'stop',
          usage: { inputTokens: 912, outputTokens: 14, totalTokens: 926 },
        }
      : {
          content: {
            role: 'model',
            parts: FILES.map((path) => ({
              functionCall: { id: '', name: 'read_file', args: { path } },
            })),
          },
          finishReason: 'tool_calls',
          usage: { inputTokens: 812, outputTokens: 64, totalTokens: 876 },
        },
};

/** The agent that most measurements run: a turn of it is a message, two tools called at once, and an answer. */
export function twoToolAgent({ work }: { readonly work?: () => Promise<void> } = {}): Agent {
  const readFile = tool({
    name: 'read_file',
    description: 'Reads a file',
    parameters: z.object({ path: z.string() }),
    readOnly: true,
    execute: async () => {
      await work?.();
      return { text: CHAPTER };
    },
  });
  return agent({ name: 'assistant', model, instruction: 'Be brief.', tools: [readFile] });
}

/** One turn, watched to its end. @throws Error when it does not end as it should */
export async function runTurn(session: Session): Promise<void> {
  let results = 0;
  for await (const event of session.send(QUESTION)) {
    if (event.type === 'tool.result' && event.outcome === 'ok') results++;
    if (event.type === 'turn.ended' && event.stopReason === 'end_turn' && results === FILES.length)
      return;
  }
  throw new Error('A turn did not end with an answer.');
}

/** One turn of a session that is new. */
export async function runFreshTurn(runtime: Runtime, id: string): Promise<void> {
  await runTurn(await runtime.session(id));
}
