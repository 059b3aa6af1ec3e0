import { toolNames } from '../../models/internal.ts';
import type { Tool } from './tool.ts';

/**
 * A group of tools. A toolset that needs a connection is opened first, and closed by the code that
 * opened it.
 */
export interface Toolset {
  readonly name: string;
  /**
   * The current tools. It is called before every model call and for every tool call, so it must be
   * fast and must not throw.
   */
  readonly tools: () => readonly Tool[];
}

/** Creates a toolset from a fixed list, or from a function that returns the current tools. */
export function toolset(name: string, tools: readonly Tool[] | (() => readonly Tool[])): Toolset {
  return { name, tools: typeof tools === 'function' ? tools : () => tools };
}

/** A toolset with only the named tools, or only those that a function accepts. */
export function filteredToolset(
  set: Toolset,
  filter: readonly string[] | ((tool: Tool) => boolean),
): Toolset {
  const accepts = typeof filter === 'function' ? filter : ({ name }: Tool) => filter.includes(name);
  return { name: set.name, tools: () => set.tools().filter((tool) => accepts(tool)) };
}

/**
 * A toolset whose tool names have a prefix, so that two toolsets do not collide. A name that is too
 * long or has a character that providers reject is shortened or replaced, and ends in a hash of the
 * full name.
 */
export function prefixedToolset(set: Toolset, prefix: string): Toolset {
  return {
    name: set.name,
    tools: () => {
      const tools = set.tools();
      const names = toolNames(tools.map(({ name }) => prefix + name));
      return tools.map((tool) => renameTool(tool, names.toProvider(prefix + tool.name)));
    },
  };
}

/** Tells a toolset from a single tool. */
export function isToolset(one: Tool | Toolset): one is Toolset {
  return 'tools' in one;
}

function renameTool<T extends Tool>(tool: T, name: string): T {
  const { originalName = tool.name } = tool;
  return { ...tool, name, originalName, declaration: { ...tool.declaration, name } };
}
