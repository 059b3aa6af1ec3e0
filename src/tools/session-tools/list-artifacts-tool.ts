import type { Tool } from '../tool/tool.ts';
import { tool } from '../tool/tool.ts';

/** Creates the tool `list_artifacts`, which returns the names of the saved artifacts. */
export function listArtifactsTool(): Tool {
  return tool({
    name: 'list_artifacts',
    description:
      'Lists the names of the saved files. Names that begin with "user:" belong to the user.',
    parameters: { type: 'object', properties: {} },
    readOnly: true,
    execute: async (_, { artifacts }) => ({ artifact_names: await artifacts.list() }),
  });
}
