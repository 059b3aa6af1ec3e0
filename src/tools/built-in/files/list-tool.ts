import { toStandardJsonSchema } from '@valibot/to-json-schema';
import type { Dirent } from 'node:fs';
import { optional, strictObject } from 'valibot';
import { tool, type Tool } from '../../tool/tool.ts';
import { textArgument } from '../../schema/argument.ts';
import type { WorkspaceFolder } from '../workspace/workspace-folder.ts';
import type { WorkspaceFiles } from '../workspace/workspace-files.ts';

const MAX_ENTRIES = 1_000;

/** Creates `list`, which lists one folder. */
export function listTool(files: WorkspaceFiles): Tool {
  return tool({
    name: 'list',
    description: `Lists a folder of the working folder by name, at most ${MAX_ENTRIES} entries: files with their size, folders, links.`,
    parameters: toStandardJsonSchema(
      strictObject({
        path: optional(textArgument('The path of the folder. Default: the working folder.'), '.'),
      }),
    ),
    readOnly: true,
    execute: ({ path }, context) =>
      files.withFolder(path, context, async (folder) => {
        const entries = await folder.entries();
        const shown = entries.slice(0, MAX_ENTRIES);
        return {
          entries: await Promise.all(shown.map((entry) => toEntry(entry, folder))),
          truncated: entries.length > shown.length,
        };
      }),
  });
}

async function toEntry(
  entry: Dirent,
  folder: WorkspaceFolder,
): Promise<{ readonly name: string; readonly kind: string; readonly bytes?: number }> {
  const { name } = entry;
  if (entry.isDirectory()) return { name, kind: 'folder' };
  if (entry.isSymbolicLink()) return { name, kind: 'link' };
  if (!entry.isFile()) return { name, kind: 'other' };
  const stats = await folder.stat(name);
  return stats === undefined ? { name, kind: 'file' } : { name, kind: 'file', bytes: stats.size };
}
