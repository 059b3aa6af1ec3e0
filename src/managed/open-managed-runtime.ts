import { omitUndefined } from '../core/internal.ts';
import { checkOptions, InvalidInputError, safeListener, sha256Hex } from '../core/index.ts';
import { parseOrigins } from '../egress/index.ts';
import { checkModelOrigin } from '../models/index.ts';
import type { ModelRef } from '../models/index.ts';
import { systemClock } from '../net/index.ts';
import type { Clock } from '../net/index.ts';
import { openRuntime } from '../runtime/index.ts';
import type { Runtime } from '../runtime/index.ts';
import { openStore } from '../store/index.ts';
import type { Durability, Store } from '../store/index.ts';
import { AGENT_REFERENCE, SESSION_OWNER, START_OPTIONS } from './interface/managed-runtime.ts';
import { AgentCatalog } from './catalogs/agent-catalog.ts';
import type { AgentRef, ManagedAgentDef } from './interface/agent-def.ts';
import { formatAgentName } from './catalogs/agent-name.ts';
import type { AgentServices } from './compilation/compile-agent.ts';
import {
  AgentArchivedError,
  DurabilityError,
  MissingServiceError,
  missingToolError,
} from './interface/managed-errors.ts';
import type {
  ManagedAgent,
  ManagedRuntime,
  ManagedSession,
  Page,
  PageOptions,
  SessionOwner,
  StartOptions,
} from './interface/managed-runtime.ts';
import { MemoryIngestion } from './sessions/memory-ingestion.ts';
import { getToolName, parseAgentDef } from './parsing/parse-agent-def.ts';
import { parseEnvironment } from './parsing/parse-environment.ts';
import { parseUserEvent } from './parsing/parse-user-event.ts';
import { SessionCatalog } from './catalogs/session-catalog.ts';
import type { SessionRecord } from './catalogs/session-catalog.ts';
import { ManagedSessions } from './sessions/managed-sessions.ts';
import { sendInput } from './sessions/send-input.ts';
import { createIdGenerator } from './catalogs/sortable-id.ts';
import { CompiledAgentCache } from './compilation/compiled-agent-cache.ts';
import { MANAGED_RUNTIME_OPTIONS, toAgentServices } from './managed-runtime-options.ts';
import type { ManagedRuntimeOptions } from './managed-runtime-options.ts';

const DEFAULT_APP = 'managed';

const DEFAULT_MAX_BUFFERED = 1000;

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
  const { store: storeOption = 'memory:', durability, modelOrigins = [] } = options;
  parseOrigins(modelOrigins, 'modelOrigins');
  const store = typeof storeOption === 'string' ? await openStore(storeOption) : storeOption;
  const ownsStore = typeof storeOption === 'string';
  try {
    if (durability === 'crash' && store.durability !== 'crash')
      throw new DurabilityError(durability, store.durability);
    return await LocalManagedRuntime.open(options, store, ownsStore);
  } catch (error) {
    if (ownsStore) await store.close();
    throw error;
  }
}

class LocalManagedRuntime extends ManagedSessions implements ManagedRuntime {
  readonly #agents: AgentCatalog;
  readonly #records: SessionCatalog;
  readonly #compiled: CompiledAgentCache;
  readonly #runtime: Runtime;
  readonly #services: AgentServices;
  readonly #clock: Clock;
  readonly #newId: (prefix: string) => string;
  readonly #ownsStore: boolean;
  readonly #memoryIngestion: MemoryIngestion | undefined;
  readonly #checkModel: (ref: ModelRef) => void;

  static async open(
    options: ManagedRuntimeOptions,
    store: Store,
    ownsStore: boolean,
  ): Promise<ManagedRuntime> {
    const { app = DEFAULT_APP, clock = systemClock, observers = [] } = options;
    const onError = safeListener('onError', options.onError);
    const { memory, artifacts, onDelete } = options;
    const newId = createIdGenerator(clock);
    const agents = new AgentCatalog({ documents: store, clock, newId: () => newId('agent') });
    const records = new SessionCatalog(store);
    const services = toAgentServices(options);
    const compiled = new CompiledAgentCache(agents, records, services);
    const memoryIngestion =
      memory === undefined ? undefined : new MemoryIngestion({ store, memory, onError });
    const runtime = await openRuntime({
      agents: [],
      findAgent: async (name) => compiled.get(name),
      store,
      app,
      clock,
      observers:
        memoryIngestion === undefined ? observers : [...observers, memoryIngestion.observe],
      ...omitUndefined({
        interceptors: options.interceptors,
        memory,
        artifacts,
        maxInputBytes: options.maxInputBytes,
      }),
      onError,
    });
    const { env = {}, modelOrigins = [] } = options;
    const checkModel = (ref: ModelRef): void => checkModelOrigin(ref, env, modelOrigins);
    const parts = { agents, records, services, compiled, runtime, clock, newId, ownsStore };
    const managed = new LocalManagedRuntime(
      { ...parts, memoryIngestion, onDelete, checkModel },
      options.maxBuffered ?? DEFAULT_MAX_BUFFERED,
    );
    for (const id of await records.deletions()) await managed.deleteSession(id).catch(onError);
    return managed;
  }

  private constructor(
    parts: {
      readonly agents: AgentCatalog;
      readonly records: SessionCatalog;
      readonly services: AgentServices;
      readonly compiled: CompiledAgentCache;
      readonly runtime: Runtime;
      readonly clock: Clock;
      readonly newId: (prefix: string) => string;
      readonly ownsStore: boolean;
      readonly memoryIngestion: MemoryIngestion | undefined;
      readonly onDelete: ManagedRuntimeOptions['onDelete'];
      readonly checkModel: (ref: ModelRef) => void;
    },
    maxBuffered: number,
  ) {
    const { runtime, records, newId, onDelete } = parts;
    super({
      runtime,
      records,
      newId,
      maxBuffered,
      ...omitUndefined({ onDelete }),
    });
    this.#memoryIngestion = parts.memoryIngestion;
    this.#checkModel = parts.checkModel;
    this.#agents = parts.agents;
    this.#records = parts.records;
    this.#compiled = parts.compiled;
    this.#runtime = parts.runtime;
    this.#services = parts.services;
    this.#clock = parts.clock;
    this.#newId = parts.newId;
    this.#ownsStore = parts.ownsStore;
  }

  get durability(): Durability {
    return this.#runtime.store.durability;
  }

  async create(definition: unknown, { id }: { readonly id?: string } = {}): Promise<ManagedAgent> {
    return this.#agents.create(await this.#parseDefinition(definition), id);
  }

  async getAgent(
    id: string,
    { version }: { readonly version?: number } = {},
  ): Promise<ManagedAgent> {
    return this.#agents.get(id, version);
  }

  async listAgents(
    options?: PageOptions & { readonly includeArchived?: boolean },
  ): Promise<Page<ManagedAgent>> {
    return this.#agents.list(options);
  }

  async agentVersions(id: string, options?: PageOptions): Promise<Page<ManagedAgent>> {
    return this.#agents.versions(id, options);
  }

  async updateAgent(
    id: string,
    definition: unknown,
    { version }: { readonly version: number },
  ): Promise<ManagedAgent> {
    return this.#agents.update(id, await this.#parseDefinition(definition), version);
  }

  async archiveAgent(id: string): Promise<ManagedAgent> {
    return this.#agents.archive(id);
  }

  async startSession(
    agent: string | { readonly id: string; readonly version?: number },
    owner: SessionOwner,
    options: StartOptions = {},
  ): Promise<ManagedSession> {
    checkOptions(AGENT_REFERENCE, agent);
    checkOptions(SESSION_OWNER, owner);
    checkOptions(START_OPTIONS, options);
    const { appName = this.#runtime.app, userId } = owner;
    if (appName !== this.#runtime.app)
      throw new InvalidInputError(
        'owner.appName',
        `must be "${this.#runtime.app}", the runtime's app.`,
      );
    if (userId.trim() === '') throw new InvalidInputError('owner.userId', 'must not be blank.');
    const requested = typeof agent === 'string' ? { id: agent } : agent;
    const found = await this.#agents.get(requested.id, requested.version);
    if (found.archivedAt !== undefined) throw new AgentArchivedError(found.id);
    const { title, metadata, dedupeKey, events = [], documents } = options;
    const environment = parseEnvironment(options.environment, found.definition);
    const name = formatAgentName(
      found.id,
      found.version,
      await this.#records.saveEnvironment(environment),
    );
    const startKey = dedupeKey === undefined ? undefined : `${userId}\0${found.id}\0${dedupeKey}`;
    const earlier =
      startKey === undefined ? undefined : await this.#records.findByStartKey(sha256Hex(startKey));
    // Compile now, so that an environment that cannot be provided is rejected at the start.
    if (earlier === undefined) await this.#compiled.get(name);
    const id = this.#newId('session');
    const batch = this.#runtime.batch();
    if (earlier === undefined) {
      const session = await batch.session(id, { user: userId, agent: name });
      for (const [index, value] of events.entries()) {
        const event = parseUserEvent(value);
        if (event.type !== 'user.message' && event.type !== 'user.define_outcome')
          throw new InvalidInputError(
            `events[${index}].type`,
            `is "${event.type}": a session can start only with user.message or user.define_outcome.`,
          );
        const key = `${dedupeKey ?? id}-${index}`;
        await batch.add(async () => sendInput(session, event, key));
      }
    }
    const record: SessionRecord =
      earlier ??
      (await this.#records.add(
        {
          id,
          agentId: found.id,
          agentVersion: found.version,
          agentName: name,
          userId,
          createdAt: this.#clock.now(),
          ...omitUndefined({
            environment: Object.keys(environment).length > 0 ? environment : undefined,
            title,
            metadata,
          }),
        },
        {
          startKey,
          documents: documents?.(id),
          write: async (changes) => batch.submit(changes),
        },
      ));
    await this.#runtime.session(record.id, { user: record.userId, agent: record.agentName });
    return this.getSession(record.id);
  }

  async close(): Promise<void> {
    await this.#runtime.close();
    await this.#memoryIngestion?.drain();
    await this.#compiled.close();
    if (this.#ownsStore) await this.#runtime.store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Parses a definition and checks that this runtime has the services it needs. */
  async #parseDefinition(value: unknown): Promise<ManagedAgentDef> {
    const definition = parseAgentDef(value);
    const { builtIns, mcp, skills } = this.#services;
    this.#checkModel(definition.model);
    for (const [index, tool] of (definition.tools ?? []).entries()) {
      if (tool.type === 'custom') continue;
      const name = getToolName(tool);
      if ((await builtIns?.(name, {})) === undefined)
        throw missingToolError(`definition.tools[${index}]`, name, builtIns !== undefined);
    }
    if (definition.mcp_servers !== undefined && mcp === undefined)
      throw new MissingServiceError('definition.mcp_servers', 'mcp');
    for (const [index, { skill_id: id }] of (definition.skills ?? []).entries()) {
      if (skills === undefined) throw new MissingServiceError('definition.skills', 'skills');
      if ((await skills(id)) === undefined)
        throw new InvalidInputError(
          `definition.skills[${index}]`,
          `must be the id of a skill; "${id}" is unknown.`,
        );
    }
    return this.#pinAgentVersions(definition);
  }

  /** Replaces references to agents by their current versions. A stored definition never changes. */
  async #pinAgentVersions(definition: ManagedAgentDef): Promise<ManagedAgentDef> {
    if (definition.agents === undefined) return definition;
    const agents: AgentRef[] = [];
    for (const [index, { agent_id, version }] of definition.agents.entries()) {
      const found = await this.#agents.get(agent_id, version);
      if (found.archivedAt !== undefined) throw new AgentArchivedError(found.id);
      if (found.definition.agents !== undefined)
        throw new InvalidInputError(
          `definition.agents[${index}]`,
          `"${agent_id}" has agents itself: an agent that is called must not call agents.`,
        );
      agents.push({ agent_id, version: found.version });
    }
    return { ...definition, agents };
  }
}
