import type { Agent } from '../../agents/index.ts';
import type { AgentCatalog } from '../catalogs/agent-catalog.ts';
import type { ManagedAgentDef } from '../interface/agent-def.ts';
import { formatAgentName, parseAgentName } from '../catalogs/agent-name.ts';
import { compileAgent } from './compile-agent.ts';
import type { AgentServices, CompiledAgent } from './compile-agent.ts';
import { AgentNotFoundError } from '../interface/managed-errors.ts';
import type { DefinedAgent, SessionEnvironment } from '../interface/managed-runtime.ts';
import type { SessionCatalog } from '../catalogs/session-catalog.ts';
import type { SubAgent } from './sub-agent-tools.ts';

/** Compiled agents, by their names in journals. Each is compiled once. */
export class CompiledAgentCache {
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
        const { definition, version } = await this.#definition(agent_id, named);
        const agent = await this.get(formatAgentName(agent_id, version, environment));
        if (agent === undefined) throw new AgentNotFoundError(agent_id);
        return { definition, agent };
      }),
    );
  }

  /** @throws AgentNotFoundError if there is no such version, or if it is not a definition */
  async #definition(agentId: string, version: number | undefined): Promise<DefinedAgent> {
    const found = await this.#agents.get(agentId, version);
    if (found.source === 'code') throw new AgentNotFoundError(agentId, version);
    return found;
  }

  async #compile(
    name: string,
    parts: { readonly agentId: string; readonly version: number; readonly environment: string },
  ): Promise<CompiledAgent> {
    const { definition } = await this.#definition(parts.agentId, parts.version);
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
