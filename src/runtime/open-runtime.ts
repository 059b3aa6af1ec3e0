import type { RuntimeOptions } from './runtime-options.ts';
import type { Runtime } from './runtime.ts';

/**
 * Opens a runtime and takes over sessions that have no owner.
 * @throws InvalidInputError for an unknown, missing or invalid option, and for two agents with the same name
 * @throws ModelNotResolvedError when the package or the key of a model that an agent names is missing
 * @throws every error of opening the store and the sources of agents
 */
export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  // Loaded on demand: a program that only defines agents does not read the code that runs them.
  const { openLocalRuntime } = await import('./open-local-runtime.ts');
  return openLocalRuntime(options);
}
