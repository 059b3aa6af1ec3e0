import { RESERVED_TOOL_NAMES } from './reserved-tool-names.ts';
import type { Tool } from './tool.ts';
import { isToolset, type Toolset } from './toolset.ts';

/**
 * Tools by name, some of them from toolsets. Every read asks the toolsets again. The first tool of
 * a name wins.
 */
export class LiveTools implements ReadonlyMap<string, Tool> {
  readonly #sources: readonly (Tool | Toolset)[];

  constructor(sources: readonly (Tool | Toolset)[]) {
    this.#sources = sources;
  }

  get size(): number {
    return this.#current().size;
  }

  get(name: string): Tool | undefined {
    return this.#current().get(name);
  }

  has(name: string): boolean {
    return this.#current().has(name);
  }

  keys(): MapIterator<string> {
    return this.#current().keys();
  }

  values(): MapIterator<Tool> {
    return this.#current().values();
  }

  entries(): MapIterator<[string, Tool]> {
    return this.#current().entries();
  }

  [Symbol.iterator](): MapIterator<[string, Tool]> {
    return this.entries();
  }

  forEach(callback: (tool: Tool, name: string, map: ReadonlyMap<string, Tool>) => void): void {
    for (const [name, tool] of this.#current()) callback(tool, name, this);
  }

  #current(): Map<string, Tool> {
    const byName = new Map<string, Tool>();
    for (const one of this.#sources) {
      for (const tool of isToolset(one) ? one.tools() : [one]) {
        const { name } = tool;
        if (!byName.has(name) && !RESERVED_TOOL_NAMES.has(name)) byName.set(name, tool);
      }
    }
    return byName;
  }
}
