import type { UserEvent } from './user-event.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a tool is offered to the model, and whether its calls need approval. */
export interface ToolPermission {
  /** `false`: the tool is not offered to the model, and its calls are rejected. Default: `true`. */
  readonly enabled?: boolean | null;
  readonly permission_policy?: {
    readonly type: 'always_allow' | 'always_ask' | 'auto';
  } | null;
}

type PermissionMode = 'auto_approve' | 'prompt' | 'deny';

/** Permissions of an agent's tools: a default, and overrides by tool name. */
export interface AgentPermissions {
  readonly default: PermissionMode;
  readonly tools?: Readonly<Record<string, PermissionMode>>;
}

/** A tool of an agent. */
export type AgentTool =
  | (ToolPermission & {
      readonly type: 'custom';
      readonly name: string;
      readonly description?: string;
      readonly input_schema: JsonObject;
      /** How long a call waits for its result, in milliseconds. Default: 300,000. */
      readonly timeout_ms?: number;
    })
  /** A tool that the server provides, by name. */
  | (ToolPermission & { readonly type: 'builtin'; readonly name: string })
  | (JsonObject & { readonly type: 'agent_toolset_20260401' | 'mcp_toolset' });

/** Definition of a new agent. */
export interface AgentParams {
  readonly name: string;
  readonly model:
    | string
    | { readonly id: string }
    | { readonly provider: string; readonly model: string; readonly base_url?: string };
  readonly system?: string | null;
  readonly description?: string | null;
  readonly tools?: readonly AgentTool[];
  readonly permission_policy?: AgentPermissions;
  readonly mcp_servers?: readonly { readonly name: string; readonly url: string }[];
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * Changes to an agent. Omitted fields keep their value. `version` is the version that the change is based on; the
 * server rejects the change if the agent has a newer one.
 */
export type AgentChange = Partial<Omit<AgentParams, 'metadata'>> & {
  readonly version?: number;
  readonly metadata?: Readonly<Record<string, string | null>>;
};

/** One stored version of an agent. Times are ISO 8601. `archived_at` is null while new sessions may use the agent. */
export interface Agent {
  readonly id: string;
  /** Starts at 1 and grows by 1 with each change. */
  readonly version: number;
  readonly name: string;
  readonly description: string | null;
  readonly system: string | null;
  readonly model: { readonly id: string };
  readonly tools: readonly AgentTool[];
  readonly permission_policy: AgentPermissions | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly created_at: string;
  readonly updated_at: string;
  readonly archived_at: string | null;
}

/** Options of a new session: its agent, and the environment its tools run in. Default: the server's own environment. */
export interface SessionParams {
  /** An agent id, with a version to pin. Default version: the newest. */
  readonly agent:
    | string
    | { readonly type: 'agent'; readonly id: string; readonly version?: number };
  readonly environment_id?: string;
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Events that the session starts with. */
  readonly initial_events?: readonly UserEvent[];
}

/** Changes to a session. Omitted fields keep their value; a metadata key set to null is removed. */
export interface SessionChange {
  readonly title?: string | null;
  readonly metadata?: Readonly<Record<string, string | null>>;
}

/** A session at the time of the request. Times are ISO 8601. Later changes come as events. */
export interface Session {
  readonly id: string;
  readonly status: 'idle' | 'running' | 'rescheduling' | 'terminated';
  /** True until the session is resumed. */
  readonly paused: boolean;
  readonly agent: { readonly id: string; readonly version: number; readonly name: string };
  readonly environment_id: string | null;
  readonly title: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
  /** Number of the last entry of the session's log. */
  readonly last_seq: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly archived_at: string | null;
}

/** Where the tools of sessions run: `cloud` on the server, `self_hosted` on a worker that takes sessions from it. */
export interface Environment {
  readonly id: string;
  readonly name: string;
  readonly config: { readonly type: 'cloud' | 'self_hosted' };
  readonly archived_at: string | null;
}

/** Definition of a new environment. Default type: `cloud`. The type cannot change later. */
export interface EnvironmentParams {
  readonly name: string;
  readonly description?: string;
  readonly config?: { readonly type: 'cloud' | 'self_hosted' };
}

/** One page of a list. Pass `next_page` as `page` to get the next one; null on the last page. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly next_page: string | null;
}

/**
 * Query of a list: up to `limit` entries (1 to 1,000; default: 20), starting at the cursor `page`, with the filters
 * that the list supports.
 */
export type PageParams = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
> & { readonly limit?: number; readonly page?: string };
