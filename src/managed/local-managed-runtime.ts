import { omitUndefined } from '../core/internal.ts';
import { checkOptions, InvalidInputError } from '../core/index.ts';
import type { Clock } from '../net/index.ts';
import { UnknownAgentError } from '../runtime/index.ts';
import type { Runtime } from '../runtime/index.ts';
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
    const found = await this.getAgent(requested.id, requested);
    if (found.archivedAt !== undefined) throw new AgentArchivedError(found.id);
    const { title, metadata, dedupeKey, events = [], documents } = options;
    const { name, environment } = await this.#resolveAgent(found, options);
    const startKey = dedupeKey === undefined ? undefined : { userId, agentId: found.id, dedupeKey };
    const earlier =
      startKey === undefined ? undefined : await this.#records.findByStartKey(startKey);
    // Compile now, so that an environment that cannot be provided is rejected at the start.
    if (earlier === undefined) await this.#definitions?.compile(this.#runtime.store, name);
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
