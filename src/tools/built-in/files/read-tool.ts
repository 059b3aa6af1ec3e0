import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { optional, strictObject } from 'valibot';
import { tool, type Tool } from '../../tool/tool.ts';
import { countArgument, textArgument } from '../../schema/argument.ts';
import type { WorkspaceFiles } from '../workspace/workspace-files.ts';
import { FileError } from '../workspace/file-error.ts';
import { decodeText } from '../workspace/decode-text.ts';

/** The largest file, in bytes, even if only a part of it is read. */
const MAX_BYTES = 10 * 1024 * 1024;
const MAX_LINES = 2_000;
/** The most characters in one response. */
const MAX_CHARACTERS = 100_000;

/** Creates `read`, which reads a text file or some of its lines. */
export function readTool(files: WorkspaceFiles): Tool {
  return tool({
    name: 'read',
    description:
      `Reads a text file of the working folder, at most ${MAX_LINES} lines at once. ` +
      'Returns its lines from first_line to last_line as they are, and how many lines there are in all.',
    parameters: toStandardJsonSchema(
      strictObject({
        file_path: textArgument('The path of the file, relative to the working folder.'),
        offset: optional(countArgument('The first line to read, from 1.', 1, 1_000_000_000), 1),
        limit: optional(countArgument('How many lines to read.', 1, MAX_LINES), MAX_LINES),
      }),
    ),
    readOnly: true,
    execute: ({ file_path, offset, limit }, context) =>
      files.withFile(file_path, context, async ({ folder, name, path }) => {
        const { bytes } = await folder.read(name, MAX_BYTES);
        const lines = splitLines(decodeText(bytes, path));
        if (offset > Math.max(1, lines.length)) {
          throw new FileError('text_not_found', path, `has only ${lines.length} lines.`);
        }
        const shown = truncateLines(lines.slice(offset - 1, offset - 1 + limit));
        return {
          content: shown.join('\n'),
          first_line: offset,
          last_line: offset - 1 + shown.length,
          total_lines: lines.length,
        };
      }),
  });
}

function splitLines(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

// Returns at least one line, and truncates that line if it alone is too long.
function truncateLines(lines: readonly string[]): readonly string[] {
  let left = MAX_CHARACTERS;
  const count = lines.findIndex((line) => (left -= line.length + 1) < 0);
  if (count === -1) return lines;
  return count === 0
    ? [`${(lines[0] ?? '').slice(0, MAX_CHARACTERS)} [the rest of this line is left out]`]
    : lines.slice(0, count);
}
