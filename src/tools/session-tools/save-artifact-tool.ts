import { asText } from './as-text.ts';
import type { Tool } from '../tool/tool.ts';
import { tool } from '../tool/tool.ts';

/**
 * Creates the tool `save_artifact`, which saves a text as an artifact. It is idempotent: a second
 * run after a crash saves nothing.
 */
export function saveArtifactTool(): Tool {
  return tool({
    name: 'save_artifact',
    description:
      'Saves a text as a file, a new version if there is one of that name. Begin the name with "user:" to keep it for all conversations of the user.',
    parameters: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'A file name, such as report.md.' },
        text: { type: 'string', description: 'What the file holds.' },
      },
      required: ['name', 'text'],
    },
    idempotent: true,
    execute: async ({ name, text }, { artifacts }) => ({
      name: asText(name),
      version: await artifacts.save(asText(name), { text: asText(text) }),
    }),
  });
}
