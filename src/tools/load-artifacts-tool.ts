import type { Json } from '../core/index.ts';
import { textIn } from './text-in.ts';
import type { Tool } from './tool.ts';
import { tool } from './tool.ts';

/** A tool by which the model reads artifacts, texts and pictures: `load_artifacts`. */
export function loadArtifactsTool(): Tool {
  return tool({
    name: 'load_artifacts',
    description: 'Reads saved files by their names, the newest version of each.',
    parameters: {
      type: 'object',
      properties: {
        artifact_names: { type: 'array', items: { type: 'string' }, description: 'Which files.' },
      },
      required: ['artifact_names'],
    },
    readOnly: true,
    execute: async ({ artifact_names: names }, { artifacts }) => {
      const loaded: Record<string, Json>[] = [];
      for (const name of Array.isArray(names) ? names.map(textIn) : []) {
        const part = await artifacts.load(name);
        loaded.push({ name, ...(part === undefined ? { error: 'There is no such file.' } : part) });
      }
      return { artifacts: loaded };
    },
  });
}
