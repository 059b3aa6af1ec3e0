import { describeValue, isObject, isPromise } from '../../core/internal.ts';
import { InvalidInputError, PetrichorError } from '../../core/index.ts';
import { LiveTools } from './live-tools.ts';
import { checkNotReserved } from './reserved-tool-names.ts';
import type { Tool } from './tool.ts';
import { isToolset, type Toolset } from './toolset.ts';

/**
 * Two tools of one agent have the same name, so a call would be ambiguous.
 * @remedy Rename one of them, or give its toolset a prefix.
 */
export class DuplicateToolError extends PetrichorError {
  override readonly code = 'duplicate_tool' as const;
  readonly toolName: string;

  constructor(toolName: string, sources: readonly string[] = []) {
    const origins = sources.length === 0 ? '' : ` (${sources.join(' and ')})`;
    super(
      `Two tools are named "${toolName}"${origins}. Tool names must be unique within an agent: rename one, or give its toolset a prefix.`,
    );
    this.toolName = toolName;
  }
}

/**
 * Indexes tools by name, in the order of the list. If the list contains toolsets, the map is live:
 * it shows their current tools, and leaves out a later tool whose name is taken or reserved.
 * @throws DuplicateToolError if two tools have the same name now
 * @throws InvalidToolError if a tool has a reserved name now
 * @throws InvalidInputError for a value that is not a list, and for an entry that is not a tool or toolset
 */
export function indexTools(tools: readonly (Tool | Toolset)[]): ReadonlyMap<string, Tool> {
  checkTools(tools);
  const byName = new Map<string, { readonly tool: Tool; readonly source: string }>();
  for (const one of tools) {
    for (const tool of isToolset(one) ? one.tools() : [one]) {
      const { name } = tool;
      const source = sourceName(tool, one);
      checkNotReserved(name);
      const before = byName.get(name);
      if (before !== undefined) throw new DuplicateToolError(name, [before.source, source]);
      byName.set(name, { tool, source });
    }
  }
  if (tools.some(isToolset)) return new LiveTools(tools);
  return new Map([...byName].map(([name, { tool }]) => [name, tool]));
}

function checkTools(tools: unknown): void {
  if (!Array.isArray(tools))
    throw new InvalidInputError(
      'tools',
      `must be a list of tools and toolsets; it is ${describeValue(tools)}. Write tools: [tool].`,
    );
  for (const [index, one] of tools.entries()) {
    if (!isToolOrToolset(one))
      throw new InvalidInputError(
        `tools[${index}]`,
        `must be a tool or a toolset; it is ${describeValue(one)}. ${isPromise(one) ? 'Await it.' : 'Wrap a definition in tool(), and an agent in agentTool().'}`,
      );
  }
}

function isToolOrToolset(one: unknown): one is Tool | Toolset {
  if (!isObject(one) || typeof one['name'] !== 'string') return false;
  if ('tools' in one) return typeof one['tools'] === 'function';
  return typeof one['parse'] === 'function' && typeof one['execute'] === 'function';
}

function sourceName({ name, originalName = name }: Tool, one: Tool | Toolset): string {
  const tool = JSON.stringify(originalName);
  return isToolset(one) ? `${tool} of toolset "${one.name}"` : `tool ${tool}`;
}
