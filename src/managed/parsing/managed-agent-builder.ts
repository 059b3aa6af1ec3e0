import type { ModelRef } from '../../models/index.ts';
import type {
  ManagedAgentDef,
  McpServerConfig,
  PermissionPolicy,
  SkillRef,
  ToolConfig,
} from '../interface/agent-def.ts';
import { parseAgentDef } from './parse-agent-def.ts';

/**
 * Builds a definition field by field. Each method returns a new builder, so one builder can be the base of several
 * agents.
 */
export class ManagedAgentBuilder {
  readonly #definition: ManagedAgentDef;

  constructor(definition: ManagedAgentDef) {
    this.#definition = definition;
  }

  withSystem(system: string): ManagedAgentBuilder {
    return this.#with({ system });
  }

  withDescription(description: string): ManagedAgentBuilder {
    return this.#with({ description });
  }

  withTools(...tools: readonly ToolConfig[]): ManagedAgentBuilder {
    return this.#with({ tools });
  }

  withMcpServers(...servers: readonly McpServerConfig[]): ManagedAgentBuilder {
    return this.#with({ mcp_servers: servers });
  }

  withSkills(...skillIds: readonly string[]): ManagedAgentBuilder {
    const skills: readonly SkillRef[] = skillIds.map((id) => ({ skill_id: id }));
    return this.#with({ skills });
  }

  withPermissionPolicy(policy: PermissionPolicy): ManagedAgentBuilder {
    return this.#with({ permission_policy: policy });
  }

  withMetadata(metadata: Readonly<Record<string, string>>): ManagedAgentBuilder {
    return this.#with({ metadata });
  }

  /**
   * Checks and returns the definition.
   * @throws InvalidInputError naming the invalid field
   * @throws UnknownModelError if the model's provider is unknown
   */
  build(): ManagedAgentDef {
    return parseAgentDef(this.#definition);
  }

  #with(fields: Partial<ManagedAgentDef>): ManagedAgentBuilder {
    return new ManagedAgentBuilder({ ...this.#definition, ...fields });
  }
}

/** Starts a definition: `managedAgent('helper', 'gemini-2.5-flash').withSystem('Be brief.').build()`. */
export function managedAgent(name: string, model: ModelRef): ManagedAgentBuilder {
  return new ManagedAgentBuilder({ name, model });
}
