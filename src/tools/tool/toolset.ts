import { toolNames } from '../../models/prompt/tool-names.ts';
import type { Tool } from './tool.ts';

/** Tools that come together. Those that need a connection are opened first, and closed by whoever opened them. */
export interface Toolset {
  readonly name: string;
  /** The tools as they are now. Asked before every model call and for every call: it must be quick, and must not throw. */
  readonly tools: () => readonly Tool[];
}

/** Tools under one name: always the same ones, or what a function says each time it is asked. */
export function toolset(name: string, tools: readonly Tool[] | (() => readonly Tool[])): Toolset {
  return { name, tools: typeof tools === 'function' ? tools : () => tools };
}

/** The tools of a set that are named, or that a function keeps. */
export function filteredToolset(
  set: Toolset,
  filter: readonly string[] | ((tool: Tool) => boolean),
): Toolset {
  const accepts = typeof filter === 'function' ? filter : ({ name }: Tool) => filter.includes(name);
  return { name: set.name, tools: () => set.tools().filter((tool) => accepts(tool)) };
}

/**
 * The tools of a set, each with the prefix before its name, so that two sets never meet. A name that gets too long or
 * has a character that no provider takes is made fine, and ends in a hash of itself.
 */
export function prefixedToolset(set: Toolset, prefix: string): Toolset {
  return {
    name: set.name,
    tools: () => {
      const tools = set.tools();
      const names = toolNames(tools.map(({ name }) => prefix + name));
      return tools.map((tool) => renamed(tool, names.toProvider(prefix + tool.name)));
    },
  };
}

/** Tells a set of tools from a single tool, where either may stand. */
export function isToolset(one: Tool | Toolset): one is Toolset {
  return 'tools' in one;
}

function renamed<T extends Tool>(tool: T, name: string): T {
  const { originalName = tool.name } = tool;
  return { ...tool, name, originalName, declaration: { ...tool.declaration, name } };
}
