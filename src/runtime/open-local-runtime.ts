import type { Agent } from '../agents/index.ts';
import { checkDefinition } from '../core/internal.ts';
import { safeListener } from '../core/index.ts';
import { systemClock } from '../net/index.ts';
import { openStore } from '../store/internal.ts';
import type { Store } from '../store/index.ts';
import { LocalRuntime } from './local-runtime.ts';
import { parseQuotas } from './quotas/quotas.ts';
import { DEFAULT_APP, parseCloseTimeoutMs, RUNTIME_OPTIONS } from './runtime-options.ts';
import type { RuntimeOptions } from './runtime-options.ts';
import type { Runtime } from './runtime.ts';
import type { AgentSourceHost } from './sources/agent-source.ts';
import { NamedModels } from './sources/named-models.ts';
import {
  checkAgentEntries,
  closeAgentSources,
  isAgentSource,
  openAgentSources,
} from './sources/open-agent-sources.ts';

/** Checks the options, opens the store and the sources of agents, and starts a runtime on them. */
export async function openLocalRuntime(options: RuntimeOptions): Promise<Runtime> {
  checkDefinition(RUNTIME_OPTIONS, options);
  checkAgentEntries(options.agents);
  parseCloseTimeoutMs(options);
  if (options.quotas !== undefined) parseQuotas(options.quotas);
  const models = new NamedModels(options.models);
  // Agents are checked before the store is opened, those of sources when the sources are open.
  const checked = new Set<Agent>();
  for (const entry of options.agents) if (!isAgentSource(entry)) await models.check(entry, checked);
  const { store: storeOption = 'memory:' } = options;
  const ownsStore = typeof storeOption === 'string';
  const store = typeof storeOption === 'string' ? await openStore(storeOption) : storeOption;
  try {
    return await openOn(options, { store, ownsStore, models, checked });
  } catch (error) {
    if (ownsStore) await store.close();
    throw error;
  }
}

async function openOn(
  options: RuntimeOptions,
  {
    checked,
    ...parts
  }: {
    readonly store: Store;
    readonly ownsStore: boolean;
    readonly models: NamedModels;
    readonly checked: Set<Agent>;
  },
): Promise<Runtime> {
  const host = createSourceHost(options, parts);
  const closeTimeoutMs = parseCloseTimeoutMs(options);
  const sources = await openAgentSources(options.agents, host, closeTimeoutMs);
  try {
    for (const { agents } of sources)
      for (const agent of agents) await parts.models.check(agent, checked);
    const runtime = new LocalRuntime(options, { ...parts, sources });
    await runtime.start();
    return runtime;
  } catch (error) {
    const { clock, onError } = host;
    await closeAgentSources(sources, { clock, onError, timeoutMs: closeTimeoutMs });
    throw error;
  }
}

function createSourceHost(
  { app = DEFAULT_APP, clock = systemClock, artifacts, memory, onError }: RuntimeOptions,
  { store, models }: { readonly store: Store; readonly models: NamedModels },
): AgentSourceHost {
  return {
    app,
    store,
    clock,
    artifacts,
    memory,
    resolveModel: async (model, options = {}) => models.resolveReference(model, options),
    onError: safeListener('onError', onError),
  };
}
