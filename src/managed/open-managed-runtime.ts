import { omitUndefined } from '../core/internal.ts';
import { checkOptions, safeListener } from '../core/index.ts';
import { systemClock } from '../net/index.ts';
import { openRuntime } from '../runtime/index.ts';
import { openStore } from '../store/index.ts';
import type { Store } from '../store/index.ts';
import { DefinitionSource } from './compilation/definition-source.ts';
import { DurabilityError } from './interface/managed-errors.ts';
import type { ManagedRuntime } from './interface/managed-runtime.ts';
import { openManagedLayer } from './manage-runtime.ts';
import { MANAGED_RUNTIME_OPTIONS } from './managed-runtime-options.ts';
import type { ManagedRuntimeOptions } from './managed-runtime-options.ts';
import { MemoryIngestion } from './sessions/memory-ingestion.ts';

const DEFAULT_APP = 'managed';

/**
 * Opens a managed runtime on a store. Sessions that an earlier process left unfinished continue.
 * @throws DurabilityError if the store is less durable than requested
 * @throws InvalidInputError if an option, for example `modelOrigins`, is invalid
 * @throws errors of opening the store
 */
export async function openManagedRuntime(
  options: ManagedRuntimeOptions = {},
): Promise<ManagedRuntime> {
  checkOptions(MANAGED_RUNTIME_OPTIONS, options);
  const source = new DefinitionSource(options);
  const { store: storeOption = 'memory:', durability } = options;
  const store = typeof storeOption === 'string' ? await openStore(storeOption) : storeOption;
  const ownsStore = typeof storeOption === 'string';
  try {
    if (durability === 'crash' && store.durability !== 'crash')
      throw new DurabilityError(durability, store.durability);
    return await openOn(options, { store, ownsStore, source });
  } catch (error) {
    if (ownsStore) await store.close();
    throw error;
  }
}

async function openOn(
  options: ManagedRuntimeOptions,
  {
    store,
    ownsStore,
    source,
  }: { readonly store: Store; readonly ownsStore: boolean; readonly source: DefinitionSource },
): Promise<ManagedRuntime> {
  const { app = DEFAULT_APP, clock = systemClock, observers = [], agents = [] } = options;
  const onError = safeListener('onError', options.onError);
  const { memory, artifacts, interceptors, maxInputBytes, closeTimeoutMs, live, quotas } = options;
  const { dispatcher, maxBuffered, onDelete, env } = options;
  const models = options.models ?? (env === undefined ? undefined : { env });
  const ingestion =
    memory === undefined ? undefined : new MemoryIngestion({ store, memory, onError });
  const runtime = await openRuntime({
    agents: [source, ...agents],
    store,
    app,
    clock,
    observers: ingestion === undefined ? observers : [...observers, ingestion.observe],
    ...omitUndefined({
      interceptors,
      quotas,
      dispatcher,
      memory,
      artifacts,
      maxInputBytes,
      closeTimeoutMs,
      models,
      live,
    }),
    onError,
  });
  const layer = { clock, onError, ...omitUndefined({ maxBuffered, onDelete }) };
  try {
    return await openManagedLayer(runtime, layer, async () => {
      await runtime.close();
      await ingestion?.drain();
      if (ownsStore) await store.close();
    });
  } catch (error) {
    await runtime.close();
    throw error;
  }
}
