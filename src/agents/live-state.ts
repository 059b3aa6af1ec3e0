import type { ToolState } from '../tools/index.ts';

/** State as the step that runs now sees it, whoever took hold of it when. */
export function liveState(now: () => ToolState): ToolState {
  return {
    get: (key) => now().get(key),
    set: (key, value) => now().set(key, value),
    delete: (key) => now().delete(key),
    update: (key, change) => now().update(key, change),
    increment: (key, by) => now().increment(key, by),
    append: (key, item) => now().append(key, item),
  };
}
