import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { strictObject } from 'valibot';
import { tool, type Tool } from '../../tool/tool.ts';
import { textArgument } from '../../schema/argument.ts';
import type { WorkspaceFiles } from '../workspace/workspace-files.ts';

const MAX_CHARACTERS = 1024 * 1024;

/** Writes a file whole. To write it again is the same, so a crash runs it again. */
export function writeTool(files: WorkspaceFiles): Tool {
  return tool({
    name: 'write',
    description:
      'Writes a text file of the working folder. A file that exists is replaced; missing folders are made.',
    parameters: toStandardJsonSchema(
      strictObject({
        file_path: textArgument('The path of the file, relative to the working folder.'),
        content: textArgument('All that the file is to hold.', MAX_CHARACTERS),
      }),
    ),
    idempotent: true,
    execute: ({ file_path, content }, context) =>
      files.changeFile(
        file_path,
        context,
        async ({ folder, name, path }) => {
          const bytes = Buffer.from(content);
          await folder.write(name, bytes);
          return { path, bytes: bytes.length };
        },
        { create: true },
      ),
  });
}
