import type { JsonObject } from '../../core/index.ts';
import type { ModelRef } from '../../models/index.ts';

/** An agent as data: what it consists of, not how it runs. Its JSON is what is stored and returned. */
export interface ManagedAgentDef {
  readonly name: string;
  readonly model: ModelRef;
  /** At most 100,000 characters. */
  readonly system?: string;
  readonly description?: string;
  /** At most 256. */
  readonly tools?: readonly ToolConfig[];
  /** At most 20. */
  readonly mcp_servers?: readonly McpServerConfig[];
  readonly skills?: readonly SkillRef[];
  readonly permission_policy?: PermissionPolicy;
  /** Agents that this one may call as tools, at most 20. They must not have `agents` themselves. */
  readonly agents?: readonly AgentRef[];
  /** At most 16 pairs: names of up to 64 characters, values of up to 512. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The tools that a definition may name by type alone. The runtime's `builtIns` decides which of them exist. */
export type BuiltInToolName = 'bash' | 'filesystem' | 'web_search' | 'web_fetch' | 'code_execution';

/** All built-in names, in the order in which error messages list them. */
export const BUILT_IN_TOOLS: readonly BuiltInToolName[] = [
  'bash',
  'filesystem',
  'web_search',
  'web_fetch',
  'code_execution',
];

/** A tool that the runtime runs: one of the five built-ins, or a custom name of the runtime's `builtIns`. */
export interface BuiltInToolConfig {
  readonly type: 'builtin';
  readonly name: string;
}

/** A tool whose calls the client answers. */
export interface CustomToolConfig {
  readonly type: 'custom';
  readonly name: string;
  readonly description?: string;
  readonly input_schema: JsonObject;
  /** How long a call waits for its result, in milliseconds. Default: 300,000. */
  readonly timeout_ms?: number;
}

/**
 * A tool of a definition: a built-in by its type, a tool of the runtime by its name, or a tool whose calls the client
 * answers. Tools of MCP servers come from `mcp_servers` instead.
 */
export type ToolConfig = { readonly type: BuiltInToolName } | BuiltInToolConfig | CustomToolConfig;

/**
 * A server whose tools the agent is offered. `stdio` requires `command`, the other transports require `url`. A field
 * that the transport does not use is rejected.
 */
export interface McpServerConfig {
  readonly name: string;
  /** `stdio` or `http`. `sse` is accepted as the older form of `http`. */
  readonly transport: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly url?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Tools of this server that run without approval, whatever the policy's default is. */
  readonly auto_approve?: readonly string[];
}

/** A skill by the id under which the runtime's `skills` finds it. A definition with an unknown id is rejected. */
export interface SkillRef {
  readonly skill_id: string;
}

/** An agent by its id. Default version: the agent's version when this definition is stored. */
export interface AgentRef {
  readonly agent_id: string;
  readonly version?: number;
}

/** `deny`: the tool is not offered to the model, and a call of it is rejected. */
export type PermissionMode = 'auto_approve' | 'prompt' | 'deny';

/** A rule for a tool takes precedence over the default. */
export interface PermissionPolicy {
  readonly default: PermissionMode;
  readonly tools?: Readonly<Record<string, PermissionMode>>;
}
