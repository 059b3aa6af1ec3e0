import type { Tool } from '../tool.ts';
import { editTool } from './edit-tool.ts';
import { FileAccess, type FileAccessOptions } from './file-access.ts';
import { globTool } from './glob-tool.ts';
import { grepTool } from './grep-tool.ts';
import { listTool } from './list-tool.ts';
import { readTool } from './read-tool.ts';
import { writeTool } from './write-tool.ts';

/**
 * `read`, `write`, `edit`, `list`, `glob` and `grep`, each inside the working folder of its session and nowhere else: no
 * `..`, no link followed, also none that is put there at that moment. What leads out is answered to the model as an error.
 */
export function filesystemTools(options: FileAccessOptions): readonly Tool[] {
  const access = new FileAccess(options);
  return [readTool, writeTool, editTool, listTool, globTool, grepTool].map((make) => make(access));
}
