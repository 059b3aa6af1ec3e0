import { PetrichorError } from '../core/index.ts';
import { LiveTools } from './live-tools.ts';
import type { Tool } from './tool.ts';
import { isToolset, type Toolset } from './toolset.ts';

/** Two tools of one agent have the same name, so a call would not say which is meant. Rename one. */
export class DuplicateToolError extends PetrichorError {
  override readonly code = 'duplicate_tool' as const;
  readonly toolName: string;

  constructor(toolName: string) {
    super(`Two tools are named "${toolName}": rename one, a call names its tool by this alone.`);
    this.toolName = toolName;
  }
}

/**
 * Tools by their name, in the order given. With toolsets among them the map is live: it shows what they hold now. What
 * comes up later under a name that is taken is not shown.
 * @throws DuplicateToolError when two have the same name now.
 */
export function indexTools(tools: readonly (Tool | Toolset)[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const tool of tools.flatMap((one) => (isToolset(one) ? one.tools() : [one]))) {
    if (byName.has(tool.name)) throw new DuplicateToolError(tool.name);
    byName.set(tool.name, tool);
  }
  return tools.some(isToolset) ? new LiveTools(tools) : byName;
}
