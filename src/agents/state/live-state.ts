import type { ToolState } from '../../tools/index.ts';

/** State that always refers to the current step, even if a generator got it in an earlier step. */
export function liveState(getState: () => ToolState): ToolState {
  return {
    get: (key) => getState().get(key),
    set: (key, value) => getState().set(key, value),
    delete: (key) => getState().delete(key),
    update: (key, change) => getState().update(key, change),
    increment: (key, by) => getState().increment(key, by),
    append: (key, item) => getState().append(key, item),
  };
}
