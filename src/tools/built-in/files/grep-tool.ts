import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { optional, strictObject } from 'valibot';
import { tool, type Tool } from '../../tool/tool.ts';
import { flagArgument, textArgument } from '../../schema/argument.ts';
import type { WorkspaceFolder } from '../workspace/workspace-folder.ts';
import type { WorkspaceFiles } from '../workspace/workspace-files.ts';
import { FileError } from '../workspace/file-error.ts';
import { globPattern } from './glob-pattern.ts';
import { linePattern, type LinePattern } from './line-pattern.ts';
import { looksBinary } from '../workspace/decode-text.ts';
import { walkFolder } from '../workspace/walk-folder.ts';

const MAX_MATCHES = 200;
/** The largest file. Larger ones are skipped and counted. */
const MAX_BYTES = 2 * 1024 * 1024;
/** The total of all files. */
const MAX_SEARCHED_BYTES = 64 * 1024 * 1024;
const MAX_LINE_CHARACTERS = 500;

interface Match {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

interface Found {
  readonly matches: Match[];
  skipped: number;
  searchedBytes: number;
}

/** Creates `grep`, which finds lines of files. */
export function grepTool(files: WorkspaceFiles): Tool {
  return tool({
    name: 'grep',
    description:
      `Finds lines of text files in the working folder by a regular expression in the syntax of RE2 (no lookaround, no backreferences); at most ${MAX_MATCHES} lines. ` +
      'Binary files and files above 2 MiB are skipped and counted in "skipped".',
    parameters: toStandardJsonSchema(
      strictObject({
        pattern: textArgument('The regular expression. It is matched with one line at a time.'),
        path: optional(
          textArgument('The file or folder to search. Default: the working folder.'),
          '.',
        ),
        glob: optional(
          textArgument('Searches only files whose path matches this, such as "*.ts".', 500),
        ),
        ignore_case: optional(
          flagArgument('Ignores the difference of upper and lower case.'),
          false,
        ),
      }),
    ),
    readOnly: true,
    execute: async ({ pattern, path, glob, ignore_case }, context) => {
      const matches = linePattern(pattern, { ignoreCase: ignore_case });
      const matchesGlob = glob === undefined ? () => true : globPattern(glob);
      const prefix = files.normalizePath(path);
      const found: Found = { matches: [], skipped: 0, searchedBytes: 0 };
      const done = (truncated: boolean): object => ({
        matches: found.matches,
        skipped: found.skipped,
        truncated,
      });
      const inFolder = (): Promise<object> =>
        files.withFolder(path, context, async (folder) => {
          for await (const file of walkFolder(folder, context.signal)) {
            if (!matchesGlob(file.path)) continue;
            const shown = prefix === '' ? file.path : `${prefix}/${file.path}`;
            await search(file.folder, file.name, shown, matches, found);
            if (isFull(found)) return done(true);
          }
          return done(false);
        });
      try {
        return await inFolder();
      } catch (error) {
        if (!(error instanceof FileError && error.code === 'not_a_folder')) throw error;
        return await files.withFile(path, context, async ({ folder, name }) => {
          await search(folder, name, prefix, matches, found);
          return done(isFull(found));
        });
      }
    },
  });
}

function isFull({ matches, searchedBytes }: Found): boolean {
  return matches.length >= MAX_MATCHES || searchedBytes >= MAX_SEARCHED_BYTES;
}

async function search(
  folder: WorkspaceFolder,
  name: string,
  path: string,
  matches: LinePattern,
  found: Found,
): Promise<void> {
  const bytes = await readIfText(folder, name);
  if (bytes === undefined) {
    found.skipped += 1;
    return;
  }
  found.searchedBytes += bytes.length;
  const text = bytes.toString();
  const lines = text.split('\n');
  for (const [i, line] of lines.entries()) {
    if (found.matches.length >= MAX_MATCHES) return;
    const whole = line.endsWith('\r') ? line.slice(0, -1) : line;
    if (i === lines.length - 1 && line === '') return;
    if (matches(whole)) {
      found.matches.push({ path, line: i + 1, text: whole.slice(0, MAX_LINE_CHARACTERS) });
    }
  }
}

async function readIfText(folder: WorkspaceFolder, name: string): Promise<Buffer | undefined> {
  try {
    const { bytes } = await folder.read(name, MAX_BYTES);
    return looksBinary(bytes) ? undefined : bytes;
  } catch (error) {
    if (error instanceof FileError) return undefined;
    throw error;
  }
}
