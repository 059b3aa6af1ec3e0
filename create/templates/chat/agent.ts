import { agent, tool, type Agent, type Model } from 'petrichor';
import { z } from 'zod';
import { demoModel } from './demo-model.ts';

/** Where files are deleted. A test passes its own. */
export interface Files {
  remove(path: string): Promise<void>;
}

export function fileAgent(model: Model | string, files: Files): Agent {
  const deleteFile = tool({
    name: 'delete_file',
    description: 'Deletes a file',
    parameters: z.object({ path: z.string() }),
    needsApproval: true, // a person decides before it runs
    onCrash: 'ask', // and again if the process dies while it runs
    execute: async ({ path }) => {
      await files.remove(path);
      return `${path} is deleted.`;
    },
  });
  return agent({ name: 'files', model, tools: [deleteFile], instruction: 'Be brief.' });
}

// A fake: replace it by `rm` of node:fs/promises when you trust your agent.
const files: Files = { remove: async (path) => console.error(`(would delete ${path})`) };

// MODEL=gpt-5 npm start, after npm install @ai-sdk/openai and with OPENAI_API_KEY set
export default fileAgent(process.env['MODEL'] ?? demoModel(), files);
