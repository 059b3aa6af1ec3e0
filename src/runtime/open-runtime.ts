import { checkAgents } from '../agents/internal.ts';
import { checkDefinition } from '../core/internal.ts';
import { openStore } from '../store/internal.ts';
import { LocalRuntime } from './local-runtime.ts';
import { NamedModels } from './named-models.ts';
import { RUNTIME_OPTIONS } from './runtime-options.ts';
import type { RuntimeOptions } from './runtime-options.ts';
import type { Runtime } from './runtime.ts';

/**
 * Opens a runtime and takes over sessions that have no owner.
 * @throws InvalidInputError for an unknown, missing or invalid option
 * @throws ModelNotResolvedError when the package or the key of a model that an agent names is missing
 * @throws every error of opening the store
 */
export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  checkDefinition(RUNTIME_OPTIONS, options);
  checkAgents('agents', options.agents);
  const models = new NamedModels(options.models);
  for (const agent of options.agents) await models.check(agent);
  const { store: storeOption = 'memory:' } = options;
  const store = typeof storeOption === 'string' ? await openStore(storeOption) : storeOption;
  const runtime = new LocalRuntime(options, store, typeof storeOption === 'string', models);
  await runtime.start();
  return runtime;
}
