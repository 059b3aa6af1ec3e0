import type { Agent } from '../../agents/index.ts';
import type { Interceptor } from '../interceptors/interceptor.ts';
import { parseScheduleAgentName, toScheduleAgentName } from '../schedules/schedule-agent.ts';
import type { ScheduleAgents } from '../schedules/schedule-agent.ts';
import { UnknownAgentError } from '../session/runtime-errors.ts';
import type { OpenAgentSource } from './agent-source.ts';
import type { NamedModels } from './named-models.ts';

/** The agents that a runtime can run: those of its sources, the agents that these call as tools, and their schedules. */
export class AgentRegistry {
  readonly byName: ReadonlyMap<string, Agent>;
  /** The names of the agents of the sources, without those that only other agents call. */
  readonly ownNames: readonly string[];
  /** The agents of all sessions that this runtime can run. Undefined: any agent, because a source may find it. */
  readonly runnable: readonly string[] | undefined;
  readonly #sources: readonly OpenAgentSource[];
  readonly #sourceByAgent: Map<string, OpenAgentSource>;
  readonly #models: NamedModels;
  readonly #schedules: ScheduleAgents;

  constructor(sources: readonly OpenAgentSource[], models: NamedModels, schedules: ScheduleAgents) {
    this.#models = models;
    this.#schedules = schedules;
    this.#sources = sources;
    const own = sources.flatMap((source) =>
      source.agents.map((agent) => ({ name: agent.name, agent, source })),
    );
    const called = sources.flatMap((source) =>
      source.agents.flatMap(({ children }) =>
        [...children].map(([name, agent]) => ({ name, agent, source })),
      ),
    );
    this.ownNames = [...new Set(own.map(({ name }) => name))];
    const all = [...called, ...own];
    this.byName = new Map(all.map(({ name, agent }) => [name, agent]));
    this.#sourceByAgent = new Map(all.map(({ name, source }) => [name, source]));
    const canFind = sources.some(({ find }) => find !== undefined);
    const names = [...this.byName.keys()];
    this.runnable = canFind ? undefined : [...names, ...names.map(toScheduleAgentName)];
  }

  async find(name: string): Promise<Agent | undefined> {
    const known = this.byName.get(name);
    if (known !== undefined) return known;
    const scheduled = parseScheduleAgentName(name);
    if (scheduled !== undefined)
      return (await this.find(scheduled)) === undefined
        ? undefined
        : this.#schedules.get(scheduled);
    for (const source of this.#sources) {
      const found = await source.find?.(name);
      if (found === undefined) continue;
      this.#sourceByAgent.set(name, source);
      return found;
    }
    return undefined;
  }

  /** @throws UnknownAgentError, ModelNotResolvedError */
  async get(name: string): Promise<Agent> {
    const agent = await this.find(name);
    if (agent === undefined) throw new UnknownAgentError(name, [...this.byName.keys()]);
    if (!this.byName.has(name)) await this.#models.check(agent);
    return agent;
  }

  /** An agent for sessions of callers: not that of schedules. @throws UnknownAgentError, ModelNotResolvedError */
  async getForCaller(name: string): Promise<Agent> {
    if (parseScheduleAgentName(name) !== undefined)
      throw new UnknownAgentError(name, [...this.byName.keys()]);
    return this.get(name);
  }

  /** @throws UnknownAgentError, or the error with which a source refuses another session of the agent */
  async checkNewSession(name: string): Promise<void> {
    await this.get(name);
    for (const source of this.#sources) await source.checkNewSession?.(name);
  }

  /** The name of the only agent of all sources. @throws UnknownAgentError when there are several, or none */
  get defaultName(): string {
    const [only, ...others] = this.ownNames;
    if (only === undefined || others.length > 0)
      throw new UnknownAgentError(undefined, this.ownNames);
    return only;
  }

  /** Whether any source adds hooks. */
  get hasInterceptors(): boolean {
    return this.#sources.some(({ interceptors = [] }) => interceptors.length > 0);
  }

  /** The hooks that the source of an agent adds. Default: none. */
  listInterceptors(agentName: string): readonly Interceptor[] {
    return this.#sourceByAgent.get(agentName)?.interceptors ?? [];
  }

  /** The author of the messages of this agent: its `author`, or its name. */
  async findAuthorName(name: string): Promise<string> {
    const agent = await this.find(name);
    return agent?.author ?? agent?.name ?? name;
  }
}
