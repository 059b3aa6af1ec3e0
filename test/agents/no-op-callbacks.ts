import type { Callbacks } from '../../src/agents/index.ts';

/** One callback of each kind. They change nothing. */
export const noOpCallbacks: Callbacks = {
  beforeAgent: () => undefined,
  afterAgent: () => undefined,
  beforeModel: () => undefined,
  afterModel: async () => undefined,
  onModelError: () => undefined,
  beforeTool: () => undefined,
  afterTool: () => undefined,
  onToolError: () => undefined,
};
