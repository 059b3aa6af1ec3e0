import type { Tool } from '../../tool/tool.ts';
import { editTool } from './edit-tool.ts';
import { WorkspaceFiles, type WorkspaceFilesOptions } from '../workspace/workspace-files.ts';
import { globTool } from './glob-tool.ts';
import { grepTool } from './grep-tool.ts';
import { listTool } from './list-tool.ts';
import { readTool } from './read-tool.ts';
import { writeTool } from './write-tool.ts';

/**
 * Creates `read`, `write`, `edit`, `list`, `glob` and `grep`. Each is confined to the working
 * folder of its session: `..` is rejected and no link is followed, including a link created during
 * the call. A path that leads outside is an error response.
 */
export function filesystemTools(options: WorkspaceFilesOptions): readonly Tool[] {
  const files = new WorkspaceFiles(options);
  return [readTool, writeTool, editTool, listTool, globTool, grepTool].map((createTool) =>
    createTool(files),
  );
}
