import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { optional, strictObject } from 'valibot';
import { tool, type Tool } from '../../tool/tool.ts';
import { flagArgument, textArgument } from '../../schema/argument.ts';
import type { WorkspaceFiles } from '../workspace/workspace-files.ts';
import { FileError } from '../workspace/file-error.ts';
import { decodeText } from '../workspace/decode-text.ts';

const MAX_BYTES = 10 * 1024 * 1024;
const MAX_CHARACTERS = 512 * 1024;

/**
 * Creates `edit`, which replaces one text of a file. Running it twice could replace text that the
 * first run wrote, so after a crash the outcome is unknown.
 */
export function editTool(files: WorkspaceFiles): Tool {
  return tool({
    name: 'edit',
    description:
      'Replaces text in a file of the working folder. old_string must match the file exactly, and only once ' +
      'unless replace_all is true: include enough surrounding text to make it unique.',
    parameters: toStandardJsonSchema(
      strictObject({
        file_path: textArgument('The path of the file, relative to the working folder.'),
        old_string: textArgument('The text to replace.', MAX_CHARACTERS),
        new_string: textArgument('The text to put in its place.', MAX_CHARACTERS),
        replace_all: optional(flagArgument('Replaces it everywhere.'), false),
      }),
    ),
    execute: ({ file_path, old_string, new_string, replace_all }, context) =>
      files.changeFile(file_path, context, async ({ folder, name, path }) => {
        const { bytes, identity } = await folder.read(name, MAX_BYTES);
        const pieces = old_string === '' ? [] : decodeText(bytes, path).split(old_string);
        const found = pieces.length - 1;
        if (found < 1) throw new FileError('text_not_found', path, 'does not contain old_string.');
        if (found > 1 && !replace_all) {
          throw new FileError(
            'text_not_found',
            path,
            `contains old_string ${found} times: include more surrounding text, or set replace_all.`,
          );
        }
        context.signal.throwIfAborted();
        await folder.write(name, Buffer.from(pieces.join(new_string)), identity);
        return { path, replacements: found };
      }),
  });
}
