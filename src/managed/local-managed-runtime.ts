import { omitUndefined } from '../core/internal.ts';
import type { Agent } from '../agents/index.ts';
import { checkOptions, InvalidInputError } from '../core/index.ts';
import type { Clock } from '../net/index.ts';
import { UnknownAgentError } from '../runtime/index.ts';
import type { InputBatch, Runtime, Session } from '../runtime/index.ts';
import type { Durability } from '../store/index.ts';
import type { AgentCatalog } from './catalogs/agent-catalog.ts';
import { formatAgentName } from './catalogs/agent-name.ts';
import type { AgentNames } from './catalogs/agent-names.ts';
import type { SessionCatalog } from './catalogs/session-catalog.ts';
import type { SessionRecord } from './catalogs/session-catalog.ts';
import type { DefinitionSource } from './compilation/definition-source.ts';
import type { AgentRef, ManagedAgentDef } from './interface/agent-def.ts';
import {
  AgentArchivedError,
  ignoreMissingSession,
  MissingServiceError,
  missingToolError,
} from './interface/managed-errors.ts';
import { AGENT_REFERENCE, SESSION_OWNER, START_OPTIONS } from './interface/managed-runtime.ts';
import type {
  DefinedAgent,
  ManagedAgent,
  ManagedRuntime,
  ManagedSession,
  Page,
  PageOptions,
  SessionEnvironment,
  SessionOwner,
  StartOptions,
} from './interface/managed-runtime.ts';
import type { ManagedRuntimeOptions } from './managed-runtime-options.ts';
import { getToolName, parseAgentDef } from './parsing/parse-agent-def.ts';
import { parseEnvironment } from './parsing/parse-environment.ts';
import { parseUserEvent } from './parsing/parse-user-event.ts';
import { ManagedSessions } from './sessions/managed-sessions.ts';
import { sendInput } from './sessions/send-input.ts';

export interface LocalManagedRuntimeOptions {
  readonly runtime: Runtime;
  readonly agents: AgentCatalog;
  readonly records: SessionCatalog;
  readonly names: AgentNames;
  /** Undefined: the runtime stores no definitions. */
  readonly definitions: DefinitionSource | undefined;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly maxBuffered: number;
  readonly onDelete: ManagedRuntimeOptions['onDelete'];
  readonly onClose: () => Promise<void>;
}

/** The managed verbs over a runtime. */
export class LocalManagedRuntime extends ManagedSessions implements ManagedRuntime {
  readonly #agents: AgentCatalog;
  readonly #records: SessionCatalog;
  readonly #names: AgentNames;
  readonly #definitions: DefinitionSource | undefined;
  readonly #runtime: Runtime;
  readonly #clock: Clock;
  readonly #newId: (prefix: string) => string;
  readonly #onClose: () => Promise<void>;

  constructor(options: LocalManagedRuntimeOptions) {
    const { runtime, records, names, newId, maxBuffered, onDelete } = options;
    super({ runtime, records, names, newId, maxBuffered, ...omitUndefined({ onDelete }) });
    this.#agents = options.agents;
    this.#records = records;
    this.#names = names;
    this.#definitions = options.definitions;
    this.#runtime = runtime;
    this.#clock = options.clock;
    this.#newId = newId;
    this.#onClose = options.onClose;
  }

  get runtime(): Runtime {
    return this.#runtime;
  }

  get durability(): Durability {
    return this.#runtime.store.durability;
  }

  async create(definition: unknown, { id }: { readonly id?: string } = {}): Promise<DefinedAgent> {
    return this.#agents.create(await this.#parseDefinition(definition), id);
  }

  async getAgent(
    id: string,
    { version }: { readonly version?: number } = {},
  ): Promise<ManagedAgent> {
    // Another program may have recorded a newer version of an agent from code.
    return this.#agents.get(id, version ?? this.#names.findCodeVersion(id));
  }

  async loadAgent(id: string, options: { readonly version?: number } = {}): Promise<Agent> {
    const found = await this.getAgent(id, options);
    const { name } = await this.#resolveAgent(found, {});
    const agent =
      found.source === 'code'
        ? this.#runtime.agents.get(name)
        : await this.#definitions?.compile(this.#runtime.store, name);
    if (agent === undefined) throw new UnknownAgentError(name, [...this.#runtime.agents.keys()]);
    return agent;
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
  ): Promise<DefinedAgent> {
    this.#names.assertNotCode(id, 'an update');
    return this.#agents.update(id, await this.#parseDefinition(definition), version);
  }

  async archiveAgent(id: string): Promise<ManagedAgent> {
    this.#names.assertNotCode(id, 'archiving it');
    return this.#agents.archive(id);
  }

  async startSession(
    agent: string | { readonly id: string; readonly version?: number },
    owner: SessionOwner,
    options: StartOptions = {},
  ): Promise<ManagedSession> {
    if (typeof agent !== 'string') checkOptions(AGENT_REFERENCE, agent);
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
    const found = await this.getAgent(requested.id, requested);
    if (found.archivedAt !== undefined) throw new AgentArchivedError(found.id);
    const { title, metadata, dedupeKey, events = [], documents } = options;
    const { name, environment } = await this.#resolveAgent(found, options);
    if (options.id !== undefined)
      return this.#startWithId({ id: options.id, userId }, { agentId: found.id, name, options });
    const startKey = dedupeKey === undefined ? undefined : { userId, agentId: found.id, dedupeKey };
    const earlier =
      startKey === undefined ? undefined : await this.#records.findByStartKey(startKey);
    // Compile now, so that an environment that cannot be provided is rejected at the start.
    if (earlier === undefined) await this.#definitions?.compile(this.#runtime.store, name);
    const id = this.#newId('session');
    const batch = this.#runtime.batch();
    if (earlier === undefined) {
      const session = await batch.session(id, { user: userId, agent: name });
      await addFirstEvents(batch, session, events, dedupeKey ?? id);
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

  /** Starts a session under an id that the caller chose. It has no record, because such an id is unique only per user. */
  async #startWithId(
    { id, userId }: { readonly id: string; readonly userId: string },
    {
      agentId,
      name,
      options: { environment, dedupeKey, title, metadata, events = [], documents },
    }: { readonly agentId: string; readonly name: string; readonly options: StartOptions },
  ): Promise<ManagedSession> {
    if (environment !== undefined || dedupeKey !== undefined)
      throw new InvalidInputError(
        'id',
        'cannot be combined with environment or dedupeKey. Omit it, or omit them.',
      );
    const started = await this.getSession({ id, userId }).catch(ignoreMissingSession);
    if (started === undefined) {
      await this.#definitions?.compile(this.#runtime.store, name);
      const batch = this.#runtime.batch();
      const session = await batch.session(id, { user: userId, agent: name });
      await addFirstEvents(batch, session, events, id);
      await batch.submit(documents?.(id));
      const labels = omitUndefined({ title, metadata });
      if (Object.keys(labels).length > 0) await this.#records.changeLabels({ id, userId }, labels);
      await this.#runtime.session(id, { user: userId, agent: name });
    }
    const session = started ?? (await this.getSession({ id, userId }));
    if (session.agentId === agentId) return session;
    throw new InvalidInputError(
      'id',
      `"${id}" is a session of agent "${session.agentId}". Choose another id, or name that agent.`,
    );
  }

  async close(): Promise<void> {
    await this.#onClose();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The name in the journal of the agent that a session starts with, and its environment. */
  async #resolveAgent(
    agent: ManagedAgent,
    { environment: requested }: StartOptions,
  ): Promise<{ readonly name: string; readonly environment: SessionEnvironment }> {
    if (agent.source === 'definition') {
      const environment = parseEnvironment(requested, agent.definition);
      const stored = await this.#records.saveEnvironment(environment);
      const name = formatAgentName(agent.id, agent.version, stored);
      if (this.#names.findCode(name) !== undefined)
        throw new InvalidInputError(
          'agent',
          `"${agent.id}" in version ${agent.version} has the same name in the journal as the program's agent "${name}": rename that agent.`,
        );
      return { name, environment };
    }
    if (requested !== undefined && Object.keys(requested).length > 0)
      throw new InvalidInputError(
        'environment',
        `is not possible: agent "${agent.id}" is defined by a program, which decides where its tools run. Omit it.`,
      );
    const { name } = agent.description;
    const current = this.#names.findCode(name);
    if (current?.id !== agent.id)
      throw new UnknownAgentError(name, [...this.#runtime.agents.keys()]);
    if (current.version !== agent.version)
      throw new InvalidInputError(
        'agent.version',
        `is ${agent.version}, but the program runs version ${current.version} of agent "${agent.id}". Omit it.`,
      );
    return { name, environment: {} };
  }

  /** Parses a definition and checks that this runtime has the services it needs. */
  async #parseDefinition(value: unknown): Promise<ManagedAgentDef> {
    const definition = parseAgentDef(value);
    if (this.#definitions === undefined)
      throw new MissingServiceError(
        'definition',
        'definitions',
        'this runtime stores no definitions. Pass definitions() to openRuntime in `agents`.',
      );
    const { builtIns, mcp, skills } = this.#definitions.services;
    this.#definitions.checkModel(definition.model);
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
      if (found.source === 'code')
        throw new InvalidInputError(
          `definition.agents[${index}]`,
          `"${agent_id}" is defined by a program: a stored definition can call only stored definitions.`,
        );
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

/** Adds the events that a new session starts with. @throws InvalidInputError for an event that needs a running session */
async function addFirstEvents(
  batch: InputBatch,
  session: Session,
  events: NonNullable<StartOptions['events']>,
  key: string,
): Promise<void> {
  for (const [index, value] of events.entries()) {
    const event = parseUserEvent(value);
    if (event.type !== 'user.message' && event.type !== 'user.define_outcome')
      throw new InvalidInputError(
        `events[${index}].type`,
        `is "${event.type}": a session can start only with user.message or user.define_outcome.`,
      );
    await batch.add(async () => sendInput(session, event, `${key}-${index}`));
  }
}
