import { checkOptions, optionTable, safeListener } from '../core/index.ts';
import type { OptionTable } from '../core/index.ts';
import { systemClock } from '../net/index.ts';
import type { Runtime } from '../runtime/index.ts';
import { AgentCatalog } from './catalogs/agent-catalog.ts';
import { AgentNames } from './catalogs/agent-names.ts';
import { SessionCatalog } from './catalogs/session-catalog.ts';
import { createIdGenerator } from './catalogs/sortable-id.ts';
import { DefinitionSource } from './compilation/definition-source.ts';
import type { ManagedRuntime } from './interface/managed-runtime.ts';
import { LocalManagedRuntime } from './local-managed-runtime.ts';
import type { ManagedRuntimeOptions } from './managed-runtime-options.ts';

const DEFAULT_MAX_BUFFERED = 1000;

/** The options of `manageRuntime`. */
export type ManageOptions = Pick<
  ManagedRuntimeOptions,
  'clock' | 'maxBuffered' | 'onDelete' | 'onError'
>;

/** The options of `manageRuntime`. */
export const MANAGE_OPTIONS: OptionTable = optionTable<ManageOptions>('manageRuntime', {
  clock: true,
  maxBuffered: true,
  onDelete: true,
  onError: true,
});

/**
 * Gives the managed verbs over a runtime, for all of its agents and sessions. Each of its agents gets an id, `agent_`
 * and its name, and a version that grows when the agent changes. Closing the result does not close the runtime.
 * @throws InvalidInputError if two agents have the same id
 */
export async function manageRuntime(
  runtime: Runtime,
  options: ManageOptions = {},
): Promise<ManagedRuntime> {
  checkOptions(MANAGE_OPTIONS, options);
  return openManagedLayer(runtime, options, async () => {});
}

/** Gives the managed verbs over a runtime. `onClose` closes what belongs to the layer. */
export async function openManagedLayer(
  runtime: Runtime,
  { clock = systemClock, maxBuffered = DEFAULT_MAX_BUFFERED, onDelete, onError }: ManageOptions,
  onClose: () => Promise<void>,
): Promise<ManagedRuntime> {
  const { store } = runtime;
  const newId = createIdGenerator(clock);
  const agents = new AgentCatalog({ documents: store, clock, newId: () => newId('agent') });
  const records = new SessionCatalog(store, runtime.app);
  const managed = new LocalManagedRuntime({
    runtime,
    agents,
    records,
    names: await AgentNames.record(runtime.agents.values(), agents),
    definitions: runtime.sources.find((source) => source instanceof DefinitionSource),
    clock,
    newId,
    maxBuffered,
    onDelete,
    onClose,
  });
  const report = safeListener('onError', onError);
  await managed.resumeDeletions(report);
  return managed;
}
