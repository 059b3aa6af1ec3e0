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

  /** @throws AgentFromCodeError for the id of an agent that the program defines */
  assertNotCode(id: string, action: string): void {
    for (const code of this.#code.values())
      if (code.id === id) throw new AgentFromCodeError(id, action);
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
