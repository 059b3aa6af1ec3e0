import type { JsonObject } from '../../core/index.ts';
import type { ModelRef } from '../../models/index.ts';

/** An agent as data: what it is made of, and nothing of how it runs. Its JSON is what is stored and shown. */
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
  /** Agents that this one may call as tools, at most 20. They call none themselves. */
  readonly agents?: readonly AgentRef[];
  /** At most 16 pairs: names to 64 characters, values to 512. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The tools that a definition may ask for by type alone. Which of them there are is up to the runtime's `builtIns`. */
export type BuiltInToolName = 'bash' | 'filesystem' | 'web_search' | 'web_fetch' | 'code_execution';

/** All built-in names, in the order in which messages list them. */
export const BUILT_IN_TOOLS: readonly BuiltInToolName[] = [
  'bash',
  'filesystem',
  'web_search',
  'web_fetch',
  'code_execution',
];

/** A tool that the runtime runs. A name beside the five is one that the runtime was given. */
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
  /** How long a call waits for its result, in milliseconds; 300,000 unless said. */
  readonly timeout_ms?: number;
}

/**
 * A tool in a definition: one of the five built-ins by its type, one that the runtime was given by its name, or one
 * whose calls the client answers. Tools of MCP servers are not listed here: they come with `mcp_servers`.
 */
export type ToolConfig = { readonly type: BuiltInToolName } | BuiltInToolConfig | CustomToolConfig;

/**
 * A server whose tools the agent is offered: `stdio` needs a `command`, the others a `url`. A field that means nothing
 * for the transport is refused.
 */
export interface McpServerConfig {
  readonly name: string;
  /** `stdio`, or `http` (`sse` is read as the older form of it). */
  readonly transport: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly url?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Tools of this server that need no one's yes, whatever the policy's default says. */
  readonly auto_approve?: readonly string[];
}

/** A skill that the runtime's `skills` must find under this id: the definition is refused when it does not. */
export interface SkillRef {
  readonly skill_id: string;
}

/** An agent by its id; the version that it has when the definition is stored, unless one is named. */
export interface AgentRef {
  readonly agent_id: string;
  readonly version?: number;
}

/** `deny`: not offered to the model, and refused when it calls all the same. */
export type PermissionMode = 'auto_approve' | 'prompt' | 'deny';

/** A rule for one tool goes before the default. */
export interface PermissionPolicy {
  readonly default: PermissionMode;
  readonly tools?: Readonly<Record<string, PermissionMode>>;
}
