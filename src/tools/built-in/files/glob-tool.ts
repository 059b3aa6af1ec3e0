import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { optional, strictObject } from 'valibot';
import { tool, type Tool } from '../../tool/tool.ts';
import { textArgument } from '../../schema/argument.ts';
import type { WorkspaceFiles } from '../workspace/workspace-files.ts';
import { globPattern } from './glob-pattern.ts';
import { walkFolder } from '../workspace/walk-folder.ts';

const MAX_PATHS = 1_000;
const MAX_VISITED = 100_000;

/** Creates `glob`, which finds files by path. */
export function globTool(files: WorkspaceFiles): Tool {
  return tool({
    name: 'glob',
    description:
      `Finds files of the working folder by name, such as "*.ts" or "src/**/*.{js,mjs}"; at most ${MAX_PATHS} paths, in order. ` +
      'A pattern without "/" finds files in all folders.',
    parameters: toStandardJsonSchema(
      strictObject({
        pattern: textArgument('The pattern of the paths: *, ?, **, {a,b} and [a-z].', 500),
        path: optional(textArgument('The folder to search. Default: the working folder.'), '.'),
      }),
    ),
    readOnly: true,
    execute: async ({ pattern, path }, context) => {
      const matches = globPattern(pattern);
      const prefix = files.normalizePath(path);
      return files.withFolder(path, context, async (folder) => {
        const paths: string[] = [];
        let visited = 0;
        let truncated = false;
        for await (const file of walkFolder(folder, context.signal)) {
          truncated = paths.length === MAX_PATHS || visited === MAX_VISITED;
          if (truncated) break;
          visited += 1;
          if (matches(file.path)) paths.push(prefix === '' ? file.path : `${prefix}/${file.path}`);
        }
        return { paths, truncated };
      });
    },
  });
}
