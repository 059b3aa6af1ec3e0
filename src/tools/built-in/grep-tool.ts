import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { optional, strictObject } from 'valibot';
import { tool, type Tool } from '../tool.ts';
import { flagArgument, textArgument } from './argument.ts';
import type { ConfinedFolder } from './confined-folder.ts';
import type { FileAccess } from './file-access.ts';
import { FileError } from './file-error.ts';
import { globPattern } from './glob-pattern.ts';
import { linePattern, type LinePattern } from './line-pattern.ts';
import { looksBinary } from './text-of-file.ts';
import { walkFolder } from './walk-folder.ts';

const MOST_MATCHES = 200;
/** Of one file: a larger one is passed over and counted. */
const MOST_BYTES = 2 * 1024 * 1024;
/** Of all files together. */
const MOST_SEARCHED_BYTES = 64 * 1024 * 1024;
const MOST_SHOWN_OF_LINE = 500;

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

/** Finds lines of files. */
export function grepTool(access: FileAccess): Tool {
  return tool({
    name: 'grep',
    description:
      `Finds lines of text files in the working folder by a regular expression in the syntax of RE2 (no lookaround, no backreferences); at most ${MOST_MATCHES} lines. ` +
      'Binary files and files above 2 MiB are passed over, and counted in "skipped".',
    parameters: toStandardJsonSchema(
      strictObject({
        pattern: textArgument('The regular expression. It is matched with one line at a time.'),
        path: optional(
          textArgument('The file or folder to search; the working folder unless given.'),
          '.',
        ),
        glob: optional(
          textArgument('Searches only files whose path looks like this, such as "*.ts".', 500),
        ),
        ignore_case: optional(flagArgument('Takes upper and lower case for the same.'), false),
      }),
    ),
    readOnly: true,
    execute: async ({ pattern, path, glob, ignore_case }, context) => {
      const matches = linePattern(pattern, { ignoreCase: ignore_case });
      const isMeant = glob === undefined ? () => true : globPattern(glob);
      const prefix = access.normal(path);
      const found: Found = { matches: [], skipped: 0, searchedBytes: 0 };
      const done = (truncated: boolean): object => ({
        matches: found.matches,
        skipped: found.skipped,
        truncated,
      });
      const inFolder = (): Promise<object> =>
        access.atFolder(path, context, async (folder) => {
          for await (const file of walkFolder(folder, context.signal)) {
            if (!isMeant(file.path)) continue;
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
        return await access.atFile(path, context, async ({ folder, name }) => {
          await search(folder, name, prefix, matches, found);
          return done(isFull(found));
        });
      }
    },
  });
}

function isFull({ matches, searchedBytes }: Found): boolean {
  return matches.length >= MOST_MATCHES || searchedBytes >= MOST_SEARCHED_BYTES;
}

async function search(
  folder: ConfinedFolder,
  name: string,
  path: string,
  matches: LinePattern,
  found: Found,
): Promise<void> {
  const bytes = await readable(folder, name);
  if (bytes === undefined) {
    found.skipped += 1;
    return;
  }
  found.searchedBytes += bytes.length;
  const text = bytes.toString();
  const lines = text.split('\n');
  for (const [i, line] of lines.entries()) {
    if (found.matches.length >= MOST_MATCHES) return;
    const whole = line.endsWith('\r') ? line.slice(0, -1) : line;
    if (i === lines.length - 1 && line === '') return;
    if (matches(whole)) {
      found.matches.push({ path, line: i + 1, text: whole.slice(0, MOST_SHOWN_OF_LINE) });
    }
  }
}

async function readable(folder: ConfinedFolder, name: string): Promise<Buffer | undefined> {
  try {
    const { bytes } = await folder.read(name, MOST_BYTES);
    return looksBinary(bytes) ? undefined : bytes;
  } catch (error) {
    if (error instanceof FileError) return undefined;
    throw error;
  }
}
