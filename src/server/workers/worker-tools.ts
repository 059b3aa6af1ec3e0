import type { JsonObject } from '../../core/index.ts';
import type { BuiltInSource } from '../../managed/index.ts';
import { tool } from '../../tools/index.ts';
import type { Tool } from '../../tools/index.ts';

const text = { type: 'string' };
const file_path = { type: 'string', description: 'Its path, relative to the working folder.' };

/**
 * Declarations of the built-in tools as a stock worker of the toolset of 2026-04-01 runs them. The model sees them when
 * the tools run on a worker. Their arguments differ from those of this package's built-in tools.
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
 * Declares the tools that a worker runs, for sessions of a self-hosted environment. All other sessions get the tools of
 * `fallback`. Without a `fallback`, an agent with these tools can be created, but its calls fail in such sessions.
 */
export function workerTools(fallback?: BuiltInSource): BuiltInSource {
  return async (name, environment) => {
    const own = WORKER_TOOLS.get(name);
    if (environment.selfHosted === true && own !== undefined) return own;
    return (await fallback?.(name, environment)) ?? own?.map(rejectLocalRun);
  };
}

function rejectLocalRun(declared: Tool): Tool {
  return {
    ...declared,
    external: false,
    execute: async () =>
      Promise.reject(new Error('This tool runs only in sessions of a self-hosted environment.')),
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
