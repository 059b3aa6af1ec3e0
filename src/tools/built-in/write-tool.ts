import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { strictObject } from 'valibot';
import { tool, type Tool } from '../tool.ts';
import { textArgument } from './argument.ts';
import type { FileAccess } from './file-access.ts';

const MOST_CHARACTERS = 1024 * 1024;

/** Writes a file whole. To write it again is the same, so a crash runs it again. */
export function writeTool(access: FileAccess): Tool {
  return tool({
    name: 'write',
    description:
      'Writes a text file of the working folder. A file that exists is replaced; missing folders are made.',
    parameters: toStandardJsonSchema(
      strictObject({
        file_path: textArgument('The path of the file, relative to the working folder.'),
        content: textArgument('All that the file is to hold.', MOST_CHARACTERS),
      }),
    ),
    idempotent: true,
    execute: ({ file_path, content }, context) =>
      access.toChange(
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
