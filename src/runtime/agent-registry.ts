import type { Agent } from '../agents/index.ts';
import type { NamedModels } from './named-models.ts';
import type { RuntimeOptions } from './runtime-options.ts';
import { UnknownAgentError } from './session/runtime-errors.ts';

/** The agents that a runtime can run: `options.agents`, the agents they call as tools, and those `findAgent` finds. */
export class AgentRegistry {
  readonly byName: ReadonlyMap<string, Agent>;
  /** The agents of all sessions that this runtime can run. Undefined: any agent, because `findAgent` may find it. */
  readonly runnable: readonly string[] | undefined;
  readonly #findAgent: RuntimeOptions['findAgent'];
  /** Names of `options.agents`, without the agents they call as tools. */
  readonly #mainAgents: readonly string[];

  readonly #models: NamedModels;

  constructor(
    { agents, findAgent }: Pick<RuntimeOptions, 'agents' | 'findAgent'>,
    models: NamedModels,
  ) {
    this.#models = models;
    this.byName = new Map([
      ...agents.flatMap((agent) => [...agent.children]),
      ...agents.map((agent) => [agent.name, agent] as const),
    ]);
    this.runnable = findAgent === undefined ? [...this.byName.keys()] : undefined;
    this.#findAgent = findAgent;
    this.#mainAgents = agents.map((agent) => agent.name);
  }

  async find(name: string): Promise<Agent | undefined> {
    return this.byName.get(name) ?? (await this.#findAgent?.(name));
  }

  /** @throws UnknownAgentError, ModelNotResolvedError */
  async get(name: string): Promise<Agent> {
    const agent = await this.find(name);
    if (agent === undefined) throw new UnknownAgentError(name, [...this.byName.keys()]);
    if (!this.byName.has(name)) await this.#models.check(agent);
    return agent;
  }

  /** The name of the only agent in `options.agents`. @throws UnknownAgentError when there are several, or none */
  get defaultName(): string {
    const [only] = this.#mainAgents;
    if (only === undefined || this.#mainAgents.length > 1)
      throw new UnknownAgentError(undefined, this.#mainAgents);
    return only;
  }

  /** The author of the messages of this agent: its `author`, or its name. */
  async findAuthorName(name: string): Promise<string> {
    const agent = await this.find(name);
    return agent?.author ?? agent?.name ?? name;
  }
}
