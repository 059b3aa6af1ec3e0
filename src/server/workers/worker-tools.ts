import type { JsonObject } from '../../core/index.ts';
import type { BuiltInSource } from '../../managed/index.ts';
import { tool } from '../../tools/index.ts';
import type { Tool } from '../../tools/index.ts';

const text = { type: 'string' };
const file_path = { type: 'string', description: 'Its path, relative to the working folder.' };

/**
 * The built-in tools as a stock worker of the toolset of 2026-04-01 runs them: what a model must be told of them where
 * they do not run here. Their arguments are not those of the built-in tools of this package.
 */
const WORKER_TOOLS: ReadonlyMap<string, readonly Tool[]> = new Map([
  [
    'bash',
    [
      declareTool('bash', 'Runs a bash command in a shell that keeps its folder and variables.', {
        command: { type: 'string', description: 'The command to run.' },
        restart: { type: 'boolean', description: 'Begin with a new shell.' },
        timeout_ms: { type: 'integer', description: 'How long it may take, in milliseconds.' },
      }),
    ],
  ],
  [
    'filesystem',
    [
      declareTool(
        'read',
        'Reads a text file.',
        {
          file_path,
          view_range: {
            type: 'array',
            items: { type: 'integer' },
            description: 'The first and the last line to read, from 1.',
          },
        },
        ['file_path'],
      ),
      declareTool(
        'write',
        'Writes a text file. Folders on its way are made.',
        { file_path, content: text },
        ['file_path', 'content'],
      ),
      declareTool(
        'edit',
        'Replaces a text in a file. It must be there once, unless all of it is to be replaced.',
        { file_path, old_string: text, new_string: text, replace_all: { type: 'boolean' } },
        ['file_path', 'old_string', 'new_string'],
      ),
      declareTool(
        'glob',
        'Lists files whose paths match a pattern, newest first.',
        { pattern: text, path: { type: 'string', description: 'The folder to look in.' } },
        ['pattern'],
      ),
      declareTool(
        'grep',
        'Searches files for a regular expression.',
        { pattern: text, path: { type: 'string', description: 'The file or folder to look in.' } },
        ['pattern'],
      ),
    ],
  ],
]);

/**
 * The tools of sessions whose environment is self-hosted, which a worker runs. All other sessions have those of
 * `otherwise`; where there are none, an agent that has them can be made, and its calls fail where no worker is.
 */
export function workerTools(fallback?: BuiltInSource): BuiltInSource {
  return async (name, environment) => {
    const own = WORKER_TOOLS.get(name);
    if (environment.selfHosted === true && own !== undefined) return own;
    return (await fallback?.(name, environment)) ?? own?.map(rejectLocalRun);
  };
}

function rejectLocalRun(one: Tool): Tool {
  return {
    ...one,
    external: false,
    execute: async () =>
      Promise.reject(new Error('This tool runs in sessions of a self-hosted environment only.')),
  };
}

function declareTool(
  name: string,
  description: string,
  properties: JsonObject,
  required: readonly string[] = [],
): Tool {
  return tool({ name, description, parameters: { type: 'object', properties, required } });
}
