import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { optional, strictObject } from 'valibot';
import { tool, type Tool } from '../tool.ts';
import { flagArgument, textArgument } from './argument.ts';
import type { FileAccess } from './file-access.ts';
import { FileError } from './file-error.ts';
import { textOfFile } from './text-of-file.ts';

const MOST_BYTES = 10 * 1024 * 1024;
const MOST_CHARACTERS = 512 * 1024;

/** Replaces one text of a file by another. Made twice it might hit what it has just written: a crash leaves it unknown. */
export function editTool(access: FileAccess): Tool {
  return tool({
    name: 'edit',
    description:
      'Replaces text in a file of the working folder. old_string must stand in the file exactly as given, and only once ' +
      'unless replace_all is true: give as much around it as makes it the only one.',
    parameters: toStandardJsonSchema(
      strictObject({
        file_path: textArgument('The path of the file, relative to the working folder.'),
        old_string: textArgument('The text to replace.', MOST_CHARACTERS),
        new_string: textArgument('The text to put in its place.', MOST_CHARACTERS),
        replace_all: optional(flagArgument('Replaces it everywhere.'), false),
      }),
    ),
    execute: ({ file_path, old_string, new_string, replace_all }, context) =>
      access.toChange(file_path, context, async ({ folder, name, path }) => {
        const { bytes, identity } = await folder.read(name, MOST_BYTES);
        const pieces = old_string === '' ? [] : textOfFile(bytes, path).split(old_string);
        const found = pieces.length - 1;
        if (found < 1) throw new FileError('text_not_found', path, 'does not hold old_string.');
        if (found > 1 && !replace_all) {
          throw new FileError(
            'text_not_found',
            path,
            `holds old_string ${found} times: give more of what is around it, or set replace_all.`,
          );
        }
        context.signal.throwIfAborted();
        await folder.write(name, Buffer.from(pieces.join(new_string)), identity);
        return { path, replacements: found };
      }),
  });
}
