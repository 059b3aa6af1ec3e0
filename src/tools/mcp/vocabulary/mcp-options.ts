import { optionTable } from '../../../core/index.ts';
import type { OptionNames, OptionTable } from '../../../core/index.ts';
import type { Clock } from '../../../net/index.ts';
import type { ToolCrashPolicy } from '../../tool/tool.ts';
import type { McpAuth, McpBearer, McpOAuth } from './mcp-auth.ts';

/**
 * A server that runs as a child process. It starts when the toolset is opened, and ends when the
 * toolset is closed or this process ends.
 */
export interface McpStdioServer {
  readonly command: string;
  readonly args?: readonly string[];
  /**
   * Its environment variables, in addition to HOME, LOGNAME, PATH, SHELL, TERM and USER (on
   * Windows, those that Windows needs).
   */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A server reached over streamable HTTP. */
export interface McpHttpServer {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly auth?: McpAuth;
  readonly fetch?: typeof globalThis.fetch;
}

/** How one tool of a server is treated. It takes precedence over the server's annotations. */
export interface McpToolPolicy {
  readonly needsApproval?: boolean;
  readonly readOnly?: boolean;
  readonly idempotent?: boolean;
  readonly onCrash?: ToolCrashPolicy;
  /** The time limit of one call, in milliseconds. Default: that of the toolset. */
  readonly timeoutMs?: number;
  /** The largest result, in characters of text. Default: that of the toolset. */
  readonly maxResultCharacters?: number;
}

/** A question of a server to a person, in one form for all protocol versions. */
export interface McpElicitation {
  readonly message: string;
  /** The JSON Schema of the answer. Without it, the answer is accept or decline. */
  readonly schema?: unknown;
  /** The address the person must open, if the question is answered elsewhere. */
  readonly url?: string;
}

/** A person's answer to a question. */
export interface McpElicitationResult {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, string | number | boolean | string[]>>;
}

/** Which tools of an MCP server are offered, how far the server is trusted, and its limits. */
export interface McpToolsetSettings {
  /** The name of the toolset in errors and questions. */
  readonly name: string;
  /** A prefix for the tool names, so that two servers do not collide. Default: no prefix. */
  readonly prefix?: string;
  /** The tools to offer, by their names on the server. Default: all. */
  readonly tools?: readonly string[];
  /**
   * The tools that need no approval, by their names on the server; `true` for all. Default: none.
   */
  readonly autoApprove?: readonly string[] | true;
  /**
   * Whether to trust the server's annotations, for example that a tool is read-only or not
   * destructive. Default: true.
   */
  readonly trustHints?: boolean;
  /** Policies of single tools, by their names on the server. */
  readonly policy?: Readonly<Record<string, McpToolPolicy>>;
  /** The time limit of one call, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number;
  /** The largest result, in characters of text. Default: the agent's limit, else 100,000. */
  readonly maxResultCharacters?: number;
  /** The time limit of connecting and of listing, in milliseconds. Default: 30,000. */
  readonly connectTimeoutMs?: number;
  /** How long a question of the server waits for its answer, in milliseconds. Default: no limit. */
  readonly answerTimeoutMs?: number;
  /**
   * The largest message of the server, in bytes. A larger one ends the connection. Default:
   * 33,554,432.
   */
  readonly maxMessageBytes?: number;
  /** Adds the tools `list_resources` and `read_resource`. Default: false. */
  readonly resourceTools?: boolean;
  /**
   * `auto`: the newest protocol version that both sides support. `legacy`: the 2025 handshake.
   * Default: `auto`.
   */
  readonly protocol?: 'auto' | 'legacy';
  /** Folders or addresses that the server may work in, sent as MCP roots. */
  readonly roots?: readonly { readonly uri: string; readonly name?: string }[];
  /**
   * Answers a question that a server of the 2025 protocol asks during a call. Its call waits on an
   * open connection and cannot be parked. Default: the question is cancelled. A server of
   * 2026-07-28 does not need it: its questions park the call.
   */
  readonly elicit?: (
    question: McpElicitation,
    signal: AbortSignal,
  ) => Promise<McpElicitationResult>;
  readonly clock?: Clock;
  /** Receives problems that are not thrown: a lost connection, a tool that cannot be offered. */
  readonly onWarning?: (message: string) => void;
}

/** The server and its settings. */
export type McpToolsetOptions = McpToolsetSettings & (McpStdioServer | McpHttpServer);

type McpMembers = McpToolsetSettings & McpStdioServer & McpHttpServer;

const AUTH_NAMES: OptionNames<McpBearer & McpOAuth> = {
  token: true,
  credentials: true,
  redirectUrl: true,
  authorize: true,
  clientName: true,
  clientId: true,
  clientSecret: true,
  clientMetadataUrl: true,
  scope: true,
};

/** The settings that toolsets of several servers share. */
export const SHARED_SETTING_NAMES: OptionNames<Omit<McpToolsetSettings, 'name' | 'autoApprove'>> = {
  prefix: true,
  tools: true,
  trustHints: true,
  policy: true,
  timeoutMs: true,
  maxMessageBytes: true,
  maxResultCharacters: true,
  connectTimeoutMs: true,
  answerTimeoutMs: true,
  resourceTools: true,
  protocol: true,
  roots: true,
  elicit: true,
  clock: true,
  onWarning: true,
};

/** The options of `openMcpToolset`. */
export const MCP_TOOLSET_OPTIONS: OptionTable = optionTable<McpMembers>(
  'openMcpToolset',
  {
    ...SHARED_SETTING_NAMES,
    name: true,
    autoApprove: true,
    command: true,
    args: true,
    env: true,
    cwd: true,
    url: true,
    headers: true,
    auth: AUTH_NAMES,
    fetch: true,
  },
  { requireConfirmation: 'policy', toolFilter: 'tools' },
);
