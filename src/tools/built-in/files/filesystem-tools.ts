import type { Tool } from '../../tool/tool.ts';
import { editTool } from './edit-tool.ts';
import { WorkspaceFiles, type WorkspaceFilesOptions } from '../workspace/workspace-files.ts';
import { globTool } from './glob-tool.ts';
import { grepTool } from './grep-tool.ts';
import { listTool } from './list-tool.ts';
import { readTool } from './read-tool.ts';
import { writeTool } from './write-tool.ts';

/**
 * `read`, `write`, `edit`, `list`, `glob` and `grep`, each inside the working folder of its session and nowhere else: no
 * `..`, no link followed, also none that is put there at that moment. What leads out is answered to the model as an error.
 */
export function filesystemTools(options: WorkspaceFilesOptions): readonly Tool[] {
  const files = new WorkspaceFiles(options);
  return [readTool, writeTool, editTool, listTool, globTool, grepTool].map((make) => make(files));
}
