import type { UserEvent } from './user-event.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a tool is offered to the model, and whether a person must approve its calls. */
export interface ToolPermission {
  /** `false`: the model is not offered it, and its calls are refused. Default: `true`. */
  readonly enabled?: boolean | null;
  readonly permission_policy?: {
    readonly type: 'always_allow' | 'always_ask' | 'auto';
  } | null;
}

type PermissionMode = 'auto_approve' | 'prompt' | 'deny';

/** What becomes of the calls of an agent's tools: one rule for all of them, and others for single tools. */
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
  /** One that the server was given, by its name. */
  | (ToolPermission & { readonly type: 'builtin'; readonly name: string })
  | (JsonObject & { readonly type: 'agent_toolset_20260401' | 'mcp_toolset' });

/** What an agent is made of. */
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

/** What is to change of an agent, and the version it is changed from. */
export type AgentChange = Partial<Omit<AgentParams, 'metadata'>> & {
  readonly version?: number;
  readonly metadata?: Readonly<Record<string, string | null>>;
};

/**
 * A stored version of an agent, as the server shows it; times are ISO 8601. `archived_at` is null while sessions may
 * still be started with it.
 */
export interface Agent {
  readonly id: string;
  /** 1, and one more for each change. */
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

/**
 * What a session is started with: an agent, and where its tools run; in the server's own environment unless one is
 * named.
 */
export interface SessionParams {
  /** An agent's id, with the version to keep where not the newest is meant. */
  readonly agent:
    | string
    | { readonly type: 'agent'; readonly id: string; readonly version?: number };
  readonly environment_id?: string;
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Messages to begin with. */
  readonly initial_events?: readonly UserEvent[];
}

/** What is to change of a session; what is not named stays. A metadata key with null is removed. */
export interface SessionChange {
  readonly title?: string | null;
  readonly metadata?: Readonly<Record<string, string | null>>;
}

/** A session as the server shows it when asked; times are ISO 8601. What happens in it afterwards is in its events. */
export interface Session {
  readonly id: string;
  readonly status: 'idle' | 'running' | 'rescheduling' | 'terminated';
  /** Held until it is resumed. */
  readonly paused: boolean;
  readonly agent: { readonly id: string; readonly version: number; readonly name: string };
  readonly environment_id: string | null;
  readonly title: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
  /** The number of the last entry of its log. */
  readonly last_seq: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly archived_at: string | null;
}

/**
 * Where the tools of sessions run: `cloud` with the server, `self_hosted` with a worker that takes sessions from it.
 */
export interface Environment {
  readonly id: string;
  readonly name: string;
  readonly config: { readonly type: 'cloud' | 'self_hosted' };
  readonly archived_at: string | null;
}

/** What an environment is made of; `cloud` unless `config` says otherwise. Its type cannot change later. */
export interface EnvironmentParams {
  readonly name: string;
  readonly description?: string;
  readonly config?: { readonly type: 'cloud' | 'self_hosted' };
}

/** One page of a listing; `next_page` is what `page` takes for the next one. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly next_page: string | null;
}

/**
 * How a listing is read: `limit` entries at a time, 1 to 1,000 and 20 unless said, from `page` on, with whatever
 * filters the listing knows.
 */
export type PageParams = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
> & { readonly limit?: number; readonly page?: string };
