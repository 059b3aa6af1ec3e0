import { z } from 'zod';
import { agent, openRuntime, tool } from '../../src/index.ts';
import { FileArtifactService } from '../../src/tools/index.ts';
import type { Store } from '../../src/store/index.ts';
import type { Agent, Runtime } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

/** An agent whose every turn calls `note`; a message that contains `ask` calls `pay`, which waits for approval. */
export function noteAgent(runs: string[]): Agent {
  const model = new ScriptedModel(({ contents }) => {
    const last = contents.at(-1);
    const text = last?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? '';
    if (last?.role !== 'user') return { text: 'Noted.' };
    return { toolCalls: [{ name: text.includes('ask') ? 'pay' : 'note', args: { text } }] };
  });
  const parameters = z.object({ text: z.string() });
  const note = tool({
    name: 'note',
    description: 'Notes a text',
    parameters,
    execute: async ({ text }, context) => {
      runs.push(text);
      const part = { inlineData: { mimeType: 'text/plain', data: btoa(text) } };
      if (context.artifacts !== undefined) await context.artifacts.save('notes.txt', part);
      return { noted: text, long: 'x'.repeat(20_000) };
    },
  });
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    parameters,
    needsApproval: true,
    execute: ({ text }) => {
      runs.push(`paid ${text}`);
      return 'paid';
    },
  });
  return agent({ name: 'noter', model, instruction: 'Note.', tools: [note, pay] });
}

/** A runtime of that agent. */
export async function openNoter(
  store: string | Store,
  runs: string[],
  rootDir?: string,
): Promise<Runtime> {
  return openRuntime({
    agents: [noteAgent(runs)],
    store,
    ...(rootDir !== undefined && { artifacts: new FileArtifactService({ rootDir }) }),
  });
}
