import { describeAgent } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { InvalidInputError } from '../../core/index.ts';
import { AgentFromCodeError } from '../interface/managed-errors.ts';
import type { AgentCatalog } from './agent-catalog.ts';
import { deriveAgentId, parseAgentName } from './agent-name.ts';

/** An agent as clients name it. */
export interface AgentVersionRef {
  readonly id: string;
  readonly version: number;
}

/** The ids and versions of agents, by the names that journals store. */
export class AgentNames {
  readonly #code: ReadonlyMap<string, AgentVersionRef>;

  /**
   * Records the versions of the agents that a program defines.
   * @throws InvalidInputError if two of them have the same id
   */
  static async record(agents: Iterable<Agent>, catalog: AgentCatalog): Promise<AgentNames> {
    const code = new Map<string, AgentVersionRef>();
    const names = new Map<string, string>();
    for (const agent of agents) {
      const id = deriveAgentId(agent.name);
      const other = names.get(id);
      if (other !== undefined)
        throw new InvalidInputError(
          'agents',
          `must have different ids: "${other}" and "${agent.name}" both have the id "${id}". Rename one.`,
        );
      names.set(id, agent.name);
      await assertNoDefinition(agent.name, catalog);
      const { version } = await catalog.recordCode(id, describeAgent(agent));
      code.set(agent.name, { id, version });
    }
    return new AgentNames(code);
  }

  private constructor(code: ReadonlyMap<string, AgentVersionRef>) {
    this.#code = code;
  }

  /** The present version of an agent that the program defines, by its name. */
  findCode(name: string): AgentVersionRef | undefined {
    return this.#code.get(name);
  }

  /** The version of the agent with this id that the program has. Undefined: the program has no such agent. */
  findCodeVersion(id: string): number | undefined {
    for (const code of this.#code.values()) if (code.id === id) return code.version;
    return undefined;
  }

  /** @throws AgentFromCodeError for the id of an agent that the program defines */
  assertNotCode(id: string, action: string): void {
    if (this.findCodeVersion(id) !== undefined) throw new AgentFromCodeError(id, action);
  }

  /** The agent of a name in a journal. An agent that this program does not run has version 1. */
  resolve(name: string): AgentVersionRef {
    const code = this.#code.get(name);
    if (code !== undefined) return code;
    const stored = parseAgentName(name);
    return stored === undefined
      ? { id: deriveAgentId(name), version: 1 }
      : { id: stored.agentId, version: stored.version };
  }
}

/**
 * A session of a stored definition stores a name such as `agent_x-v2`. An agent of a program must not have such a name.
 * @throws InvalidInputError
 */
async function assertNoDefinition(name: string, catalog: AgentCatalog): Promise<void> {
  const stored = parseAgentName(name);
  if (stored === undefined || (await catalog.find(stored.agentId))?.source !== 'definition') return;
  throw new InvalidInputError(
    'agents',
    `must not have the name "${name}": sessions of the stored agent "${stored.agentId}" use it. Rename the agent.`,
  );
}
