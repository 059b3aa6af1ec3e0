import { PetrichorError } from '../core/index.ts';
import type { Tool } from './tool.ts';

/** Two tools of one agent have the same name, so a call would not say which is meant. Rename one. */
export class DuplicateToolError extends PetrichorError {
  override readonly code = 'duplicate_tool' as const;
  readonly toolName: string;

  constructor(toolName: string) {
    super(`Two tools are named "${toolName}": rename one, a call names its tool by this alone.`);
    this.toolName = toolName;
  }
}

/** Tools by their name, in the order given. @throws DuplicateToolError */
export function indexTools(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) throw new DuplicateToolError(tool.name);
    byName.set(tool.name, tool);
  }
  return byName;
}
