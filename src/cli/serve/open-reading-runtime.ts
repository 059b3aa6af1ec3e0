import { openManagedRuntime } from '../../managed/index.ts';
import type { ManagedRuntime } from '../../managed/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import type { Model } from '../../models/index.ts';
import type { Clock } from '../../net/index.ts';
import type { Store } from '../../store/index.ts';
import type { ServedAgents } from './served-agents.ts';

/** Opens a runtime that shows the sessions of an application and runs none. The store must be a read-only view. */
export async function openReadingRuntime({
  app,
  store,
  served,
  clock,
}: {
  readonly app: string;
  readonly store: Store;
  readonly served: ServedAgents;
  readonly clock: Clock;
}): Promise<ManagedRuntime & AsyncDisposable> {
  // Never called: no session runs.
  const noModel = async (): Promise<Model> => new ScriptedModel([]);
  return openManagedRuntime({
    app,
    agents: served.code.map(({ source }) => source),
    store,
    clock,
    models: noModel,
    resolver: noModel,
    builtIns: async (name) => served.tools.filter((tool) => 'name' in tool && tool.name === name),
  });
}
