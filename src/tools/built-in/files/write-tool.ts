import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { strictObject } from 'valibot';
import { tool, type Tool } from '../../tool/tool.ts';
import { textArgument } from '../../schema/argument.ts';
import type { WorkspaceFiles } from '../workspace/workspace-files.ts';

const MAX_CHARACTERS = 1024 * 1024;

/** Creates `write`, which writes a whole file. It is idempotent, so it runs again after a crash. */
export function writeTool(files: WorkspaceFiles): Tool {
  return tool({
    name: 'write',
    description:
      'Writes a text file in the working folder. An existing file is replaced; missing folders are created.',
    parameters: toStandardJsonSchema(
      strictObject({
        file_path: textArgument('The path of the file, relative to the working folder.'),
        content: textArgument('The whole content of the file.', MAX_CHARACTERS),
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
