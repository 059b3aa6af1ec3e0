import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { optional, strictObject } from 'valibot';
import { tool, type Tool } from '../tool.ts';
import { textArgument } from './argument.ts';
import type { FileAccess } from './file-access.ts';
import { globPattern } from './glob-pattern.ts';
import { walkFolder } from './walk-folder.ts';

const MOST_PATHS = 1_000;
const MOST_VISITED = 100_000;

/** Finds files by their paths. */
export function globTool(access: FileAccess): Tool {
  return tool({
    name: 'glob',
    description:
      `Finds files of the working folder by name, such as "*.ts" or "src/**/*.{js,mjs}"; at most ${MOST_PATHS} paths, in order. ` +
      'A pattern without "/" finds files in all folders.',
    parameters: toStandardJsonSchema(
      strictObject({
        pattern: textArgument('What the paths look like: *, ?, **, {a,b} and [a-z].', 500),
        path: optional(textArgument('The folder to search; the working folder unless given.'), '.'),
      }),
    ),
    readOnly: true,
    execute: async ({ pattern, path }, context) => {
      const matches = globPattern(pattern);
      const prefix = access.normal(path);
      return access.atFolder(path, context, async (folder) => {
        const paths: string[] = [];
        let visited = 0;
        let truncated = false;
        for await (const file of walkFolder(folder, context.signal)) {
          truncated = paths.length === MOST_PATHS || visited === MOST_VISITED;
          if (truncated) break;
          visited += 1;
          if (matches(file.path)) paths.push(prefix === '' ? file.path : `${prefix}/${file.path}`);
        }
        return { paths, truncated };
      });
    },
  });
}
