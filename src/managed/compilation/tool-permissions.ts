import { PetrichorError } from '../../core/index.ts';
import type { ToolOrigin } from '../../core/index.ts';
import { toolset } from '../../tools/index.ts';
import type { Tool, Toolset } from '../../tools/index.ts';
import type { ManagedAgentDef, PermissionMode } from '../interface/agent-def.ts';

/**
 * A model called a tool that the permission policy denies. The model was not offered the tool. It reads the message and
 * continues.
 * @remedy Allow the tool in the policy of the agent, if the agent needs it.
 */
class DeniedToolError extends PetrichorError {
  override readonly code = 'denied' as const;

  constructor(toolName: string) {
    super(`The tool "${toolName}" is denied by this agent's permission policy.`);
  }
}

/** Tools of one origin. */
export interface ToolSource {
  readonly origin: ToolOrigin;
  readonly tools: Toolset;
  /** A name by which a policy may refer to all of these tools. */
  readonly group?: string;
  /** Tools that run without approval, unless the policy has a rule for the tool itself. */
  readonly approved?: readonly string[];
}

/** The permission and the origin of each tool. */
export class ToolPermissions {
  readonly toolsets: readonly Toolset[];
  readonly #definition: ManagedAgentDef;

  constructor(definition: ManagedAgentDef, sources: readonly ToolSource[]) {
    this.#definition = definition;
    this.toolsets = sources.map((source) =>
      toolset(source.tools.name, () =>
        source.tools.tools().map((one) => this.#applyMode(one, source)),
      ),
    );
  }

  #applyMode(tool: Tool, source: ToolSource): Tool {
    const one = { ...tool, origin: source.origin };
    switch (this.#resolveMode(one.name, source)) {
      case 'auto_approve':
        return { ...one, needsApproval: false };
      case 'prompt':
        return { ...one, needsApproval: true };
      case 'deny':
        return {
          ...one,
          denied: true,
          needsApproval: false,
          external: false,
          readOnly: true,
          onCrash: 'rerun',
          execute: async () => Promise.reject(new DeniedToolError(one.name)),
        };
      default:
        return one;
    }
  }

  /** The rule of a policy for a tool. Undefined: `needsApproval` of the tool decides. */
  #resolveMode(
    name: string,
    { group, approved = [], origin }: ToolSource,
  ): PermissionMode | undefined {
    const policy = this.#definition.permission_policy;
    const rule =
      policy?.tools?.[name] ?? (group === undefined ? undefined : policy?.tools?.[group]);
    if (rule !== undefined) return rule;
    if (approved.includes(name)) return 'auto_approve';
    // A default has not been chosen for this tool: a rule for another tool makes one. So it does not
    // lift the approval that the tool itself asks for. Tools of MCP servers have no choice of ours.
    const isOwn = origin.kind !== 'mcp';
    return isOwn && policy?.default === 'auto_approve' ? undefined : policy?.default;
  }
}
