import {
  checkOptions,
  InvalidInputError,
  optionTable,
  safeListener,
  sha256Hex,
} from '../core/index.ts';
import type { SessionKey, OptionTable } from '../core/index.ts';
import type { Agent, BeforeTool, CallbackList } from '../agents/index.ts';
import { parseOrigins } from '../egress/index.ts';
import { checkModelOrigin, resolveModel } from '../models/index.ts';
import type { Model, ModelRef } from '../models/index.ts';
import { systemClock } from '../net/index.ts';
import type { Clock } from '../net/index.ts';
import { openRuntime } from '../runtime/index.ts';
import type { Interceptor, Observer, Runtime } from '../runtime/index.ts';
import { openStore } from '../store/index.ts';
import type { Durability, Store } from '../store/index.ts';
import type { ArtifactService, MemoryService } from '../tools/index.ts';
import { AGENT_REFERENCE, SESSION_OWNER, START_OPTIONS } from './interface/managed-runtime.ts';
import { AgentCatalog } from './catalogs/agent-catalog.ts';
import type { AgentRef, ManagedAgentDef } from './interface/agent-def.ts';
import { formatAgentName, parseAgentName } from './catalogs/agent-name.ts';
import { compileAgent } from './compilation/compile-agent.ts';
import type { AgentServices, CompiledAgent } from './compilation/compile-agent.ts';
import {
  AgentArchivedError,
  AgentNotFoundError,
  DurabilityError,
  MissingServiceError,
} from './interface/managed-errors.ts';
import type {
  ManagedAgent,
  ManagedRuntime,
  ManagedSession,
  Page,
  PageOptions,
  SessionEnvironment,
  SessionOwner,
  StartOptions,
} from './interface/managed-runtime.ts';
import { MemoryIngestion } from './sessions/memory-ingestion.ts';
import { getToolName, parseAgentDef } from './parsing/parse-agent-def.ts';
import { parseEnvironment } from './parsing/parse-environment.ts';
import { parseUserEvent } from './parsing/parse-user-event.ts';
import { SessionCatalog } from './catalogs/session-catalog.ts';
import type { SubAgent } from './compilation/sub-agent-tools.ts';
import type { SessionRecord } from './catalogs/session-catalog.ts';
import { ManagedSessions, sendInput } from './sessions/managed-sessions.ts';
import { createIdGenerator } from './catalogs/sortable-id.ts';
import type { BuiltInSource, McpSource, SkillSource } from './interface/tool-sources.ts';

/**
 * Store, models, tools and limits of a managed runtime. All are optional. A definition that needs a missing service is
 * rejected with a MissingServiceError.
 */
export interface ManagedRuntimeOptions {
  /** A store that is passed open is not closed with the runtime. Default: `memory:`. */
  readonly store?: string | Store;
  /** Rejects a store that is less durable than this. */
  readonly durability?: Durability;
  /** Name of the application. Sessions of different applications are separate. */
  readonly app?: string;
  /** Resolves the models of definitions. Default: by name, with the keys of `env`. */
  readonly resolver?: (ref: ModelRef) => Promise<Model>;
  /** Maximum size of an input, in bytes of JSON. Default: 16 MiB. */
  readonly maxInputBytes?: number;
  /** Where the default resolver finds API keys and endpoints. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Origins that definitions may use as `base_url` of their model: `http://127.0.0.1:11434`, or `https://*.example.com`
   * for public addresses with TLS. A definition with another origin is rejected when it is stored, and a stored one
   * when it is used, with any resolver. Default: none.
   */
  readonly modelOrigins?: readonly string[];
  /** Judges outcomes. Default: each agent's own model. */
  readonly grader?: Model;
  /** Tools that run here, by name. Without it, a definition that names one is rejected. */
  readonly builtIns?: BuiltInSource;
  /** Connects to the MCP servers of definitions. Without it, a definition with servers is rejected. */
  readonly mcp?: McpSource;
  /** Finds skills by id. Without it, a definition with skills is rejected. */
  readonly skills?: SkillSource;
  /**
   * Called before each call is validated, approved and run. May change its arguments or return its result. A person
   * approves the changed call.
   */
  readonly guardrails?: CallbackList<BeforeTool>;
  /** Ingests each turn when it ends. Tools can search it. */
  readonly memory?: MemoryService;
  /** Where tools keep files. */
  readonly artifacts?: ArtifactService;
  /**
   * Deletes what is kept for a session outside the store, such as its working folder, after the session has stopped.
   * Also called for the sessions of called agents. If it fails, or the process dies, it is called again at the next
   * deletion of the session or when the next runtime opens.
   */
  readonly onDelete?: (session: SessionKey) => Promise<void>;
  readonly clock?: Clock;
  /** Maximum number of further model calls after tool results in one turn. Default: 25. */
  readonly reaskBudget?: number;
  /**
   * Maximum number of model calls in one turn, including outcome rounds, repeated attempts and called agents. 0 or
   * less: no limit. Default: 500.
   */
  readonly maxModelCalls?: number;
  /** Total number of attempts of one model call. Default: 4. */
  readonly modelAttempts?: number;
  /** Timeout of one model call, in milliseconds. Default: 300,000. */
  readonly modelTimeoutMs?: number;
  /** Maximum wait for a provider's `retry-after`, in milliseconds. Default: 60,000. */
  readonly maxRetryAfterMs?: number;
  /** How long a call waits for a result from outside if its tool sets no timeout, in milliseconds. Default: 300,000. */
  readonly customToolTimeoutMs?: number;
  /** Maximum number of events that may wait for a stream reader before the stream is closed. Default: 1,000. */
  readonly maxBuffered?: number;
  readonly observers?: readonly Observer[];
  /** Observe the running sessions: context propagation, steps and calls. */
  readonly interceptors?: readonly Interceptor[];
  readonly onError?: (error: unknown, key?: SessionKey) => void;
}

/** The options of `openManagedRuntime`. */
export const MANAGED_RUNTIME_OPTIONS: OptionTable = optionTable<ManagedRuntimeOptions>(
  'openManagedRuntime',
  {
    maxInputBytes: true,
    maxRetryAfterMs: true,
    store: true,
    durability: true,
    app: true,
    resolver: true,
    env: true,
    modelOrigins: true,
    grader: true,
    builtIns: true,
    mcp: true,
    skills: true,
    guardrails: true,
    memory: true,
    artifacts: true,
    onDelete: true,
    clock: true,
    reaskBudget: true,
    maxModelCalls: true,
    modelAttempts: true,
    modelTimeoutMs: true,
    customToolTimeoutMs: true,
    maxBuffered: true,
    observers: true,
    interceptors: true,
    onError: true,
  },
);

const DEFAULT_APP = 'managed';
const DEFAULT_REASK_BUDGET = 25;
const DEFAULT_MAX_MODEL_CALLS = 500;
const DEFAULT_MODEL_ATTEMPTS = 4;
const DEFAULT_CUSTOM_TOOL_TIMEOUT_MS = 300_000;
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
      ...(options.interceptors !== undefined && { interceptors: options.interceptors }),
      ...(memory !== undefined && { memory }),
      ...(artifacts !== undefined && { artifacts }),
      ...(options.maxInputBytes !== undefined && { maxInputBytes: options.maxInputBytes }),
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
      ...(onDelete !== undefined && { onDelete }),
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
          ...(Object.keys(environment).length > 0 && { environment }),
          ...(title !== undefined && { title }),
          ...(metadata !== undefined && { metadata }),
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
        throw new MissingServiceError(`definition.tools[${index}] ("${name}")`, 'builtIns');
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

/** Compiled agents, by their names in journals. Each is compiled once. */
class CompiledAgentCache {
  readonly #agents: AgentCatalog;
  readonly #records: SessionCatalog;
  readonly #services: AgentServices;
  readonly #compiled = new Map<string, Promise<CompiledAgent>>();

  constructor(agents: AgentCatalog, records: SessionCatalog, services: AgentServices) {
    this.#agents = agents;
    this.#records = records;
    this.#services = services;
  }

  async get(name: string): Promise<Agent | undefined> {
    const parts = parseAgentName(name);
    if (parts === undefined) return undefined;
    const compiled = this.#compiled.get(name) ?? this.#compile(name, parts);
    this.#compiled.set(name, compiled);
    try {
      return (await compiled).agent;
    } catch (error) {
      // Do not cache a failure: the missing service may exist next time.
      this.#compiled.delete(name);
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(
      [...this.#compiled.values()].map(async (compiled) => (await compiled).close()),
    );
    this.#compiled.clear();
  }

  async #subAgents(
    { agents = [] }: ManagedAgentDef,
    environment: string,
  ): Promise<readonly SubAgent[]> {
    return Promise.all(
      agents.map(async ({ agent_id, version: named }) => {
        const { definition, version } = await this.#agents.get(agent_id, named);
        const agent = await this.get(formatAgentName(agent_id, version, environment));
        if (agent === undefined) throw new AgentNotFoundError(agent_id);
        return { definition, agent };
      }),
    );
  }

  async #compile(
    name: string,
    parts: { readonly agentId: string; readonly version: number; readonly environment: string },
  ): Promise<CompiledAgent> {
    const { definition } = await this.#agents.get(parts.agentId, parts.version);
    const environment: SessionEnvironment =
      (await this.#records.environment(parts.environment)) ?? {};
    return compileAgent(
      name,
      definition,
      environment,
      this.#services,
      await this.#subAgents(definition, parts.environment),
    );
  }
}

function toAgentServices(options: ManagedRuntimeOptions): AgentServices {
  const { maxModelCalls = DEFAULT_MAX_MODEL_CALLS } = options;
  const { resolver, env = {}, modelOrigins = [], grader, builtIns, mcp, skills } = options;
  const { guardrails, modelTimeoutMs, maxRetryAfterMs } = options;
  return {
    resolver: async (ref) => {
      // Also checked here, for definitions stored under another `modelOrigins` list.
      checkModelOrigin(ref, env, modelOrigins);
      return resolver === undefined ? resolveModel(ref, { env, modelOrigins }) : resolver(ref);
    },
    ...(grader !== undefined && { grader }),
    ...(builtIns !== undefined && { builtIns }),
    ...(mcp !== undefined && { mcp }),
    ...(skills !== undefined && { skills }),
    ...(guardrails !== undefined && { guardrails }),
    ...(modelTimeoutMs !== undefined && { modelTimeoutMs }),
    ...(maxRetryAfterMs !== undefined && { maxRetryAfterMs }),
    reaskBudget: options.reaskBudget ?? DEFAULT_REASK_BUDGET,
    modelAttempts: options.modelAttempts ?? DEFAULT_MODEL_ATTEMPTS,
    maxModelCalls,
    customToolTimeoutMs: options.customToolTimeoutMs ?? DEFAULT_CUSTOM_TOOL_TIMEOUT_MS,
  };
}
