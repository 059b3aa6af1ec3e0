import { optionTable } from '../../../core/index.ts';
import type { OptionNames, OptionTable } from '../../../core/index.ts';
import type { Clock } from '../../../net/index.ts';
import type { ToolCrashPolicy } from '../../tool/tool.ts';
import type { McpAuth, McpBearer, McpOAuth } from './mcp-auth.ts';

/** A server that is a program: started when the toolset is opened, ended when it is closed, or when our process ends. */
export interface McpStdioServer {
  readonly command: string;
  readonly args?: readonly string[];
  /** All it gets of an environment, beside HOME, LOGNAME, PATH, SHELL, TERM and USER (what Windows needs, there). */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A server that is somewhere: streamable HTTP. */
export interface McpHttpServer {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly auth?: McpAuth;
  readonly fetch?: typeof globalThis.fetch;
}

/** How one tool of a server is treated, whatever the server says of it. */
export interface McpToolPolicy {
  readonly needsApproval?: boolean;
  readonly readOnly?: boolean;
  readonly idempotent?: boolean;
  readonly onCrash?: ToolCrashPolicy;
  /** Milliseconds for one call; those of the toolset unless said. */
  readonly timeoutMs?: number;
  /** How many characters of text its result may have. Default: that of the toolset. */
  readonly maxResultCharacters?: number;
}

/** A question a server asks a person, in one form for all versions of the protocol. */
export interface McpElicitation {
  readonly message: string;
  /** JSON Schema of the answer. Without it, yes or no is the answer. */
  readonly schema?: unknown;
  /** Where the person is to go, when it is not to be answered here. */
  readonly url?: string;
}

/** What a person said to a question. */
export interface McpElicitationResult {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, string | number | boolean | string[]>>;
}

/** Which tools of an MCP server are offered, how far it is trusted, and how long it may take. */
export interface McpToolsetSettings {
  /** Names the toolset in errors and questions. */
  readonly name: string;
  /** Put before the name of each tool, so that two servers do not meet. */
  readonly prefix?: string;
  /** The tools to offer, by the names the server has for them; all unless said. */
  readonly tools?: readonly string[];
  /** Tools that need no approval, by the names the server has for them; `true` for all. */
  readonly autoApprove?: readonly string[] | true;
  /** Whether to believe what the server says of its tools: that one only reads, or destroys nothing. Yes unless said. */
  readonly trustHints?: boolean;
  /** How single tools are treated, by the names the server has for them. */
  readonly policy?: Readonly<Record<string, McpToolPolicy>>;
  /** Milliseconds for one call; 60,000 unless said. */
  readonly timeoutMs?: number;
  /** How many characters of text a result may have. Default: that of the agent, else 100,000. */
  readonly maxResultCharacters?: number;
  /** Milliseconds for connecting and for listing; 30,000 unless said. */
  readonly connectTimeoutMs?: number;
  /** Milliseconds a question of the server waits for its answer; for ever unless said. */
  readonly answerTimeoutMs?: number;
  /** How large one message of the server may be, in bytes; a larger one ends the connection. Default: 33,554,432. */
  readonly maxMessageBytes?: number;
  /** Adds `list_resources` and `read_resource` when the server has resources. No unless said. */
  readonly resourceTools?: boolean;
  /** Which protocol to speak: what both can (`auto`), or one of the handshake of 2025; `auto` unless said. */
  readonly protocol?: 'auto' | 'legacy';
  /** Folders or addresses the server is told it may work in. */
  readonly roots?: readonly { readonly uri: string; readonly name?: string }[];
  /**
   * Answers what a server of the 2025 protocol asks in the middle of a call: it waits on an open connection, so this
   * cannot park. Cancelled when missing. A server of 2026-07-28 needs none: its question parks the call.
   */
  readonly elicit?: (
    question: McpElicitation,
    signal: AbortSignal,
  ) => Promise<McpElicitationResult>;
  readonly clock?: Clock;
  /** Told what went wrong and was not thrown: a lost connection, a tool that cannot be offered. */
  readonly onWarning?: (message: string) => void;
}

/** Which server, and how it is treated. */
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

const SETTING_NAMES: OptionNames<McpToolsetSettings> = {
  name: true,
  prefix: true,
  tools: true,
  autoApprove: true,
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
    ...SETTING_NAMES,
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
