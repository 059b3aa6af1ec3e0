import type { Content, Json } from '../../../core/index.ts';
import type { Tool } from '../../tool/tool.ts';
import type { Toolset } from '../../tool/toolset.ts';

/** A tool of the server that is not offered, and why. */
export interface RefusedTool {
  readonly name: string;
  readonly reason: string;
}

/** Aborts a request before its time limit, which is `connectTimeoutMs` of the settings. */
export interface McpRequestOptions {
  readonly signal?: AbortSignal;
}

/** A resource of a server. */
export interface McpResource {
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** In bytes. */
  readonly size?: number;
}

/** A URI template (RFC 6570). */
export interface McpResourceTemplate {
  readonly uriTemplate: string;
  readonly name: string;
  readonly description?: string;
  readonly mimeType?: string;
}

/** A prompt of a server. */
export interface McpPrompt {
  readonly name: string;
  readonly description?: string;
  readonly args: readonly { readonly name: string; readonly required: boolean }[];
}

/**
 * The tools, resources and prompts of one MCP server. It stays connected until it is closed; a lost
 * connection is reopened.
 */
export interface McpToolset extends Toolset, AsyncDisposable {
  /** The tools of the last listing. The list is updated when the server reports a change. */
  readonly tools: () => readonly Tool[];
  /** Listed tools that are not offered because no model could use them. */
  readonly refused: () => readonly RefusedTool[];
  /** The server's instructions for models: text for an agent's instruction. */
  readonly instructions: () => string | undefined;
  /** The protocol version of the connection; undefined while there is no connection. */
  readonly protocolVersion: () => string | undefined;
  /** Calls `changed` after each change of the tools. The returned function unsubscribes. */
  readonly onChange: (changed: () => void) => () => void;
  /** Lists the tools again. */
  refresh(): Promise<void>;
  resources(options?: McpRequestOptions): Promise<readonly McpResource[]>;
  resourceTemplates(options?: McpRequestOptions): Promise<readonly McpResourceTemplate[]>;
  /** The contents of a resource, as parts. */
  readResource(uri: string, options?: McpRequestOptions): Promise<readonly Json[]>;
  prompts(options?: McpRequestOptions): Promise<readonly McpPrompt[]>;
  /** A prompt with its arguments filled in, as the first messages of a conversation. */
  prompt(
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: McpRequestOptions,
  ): Promise<readonly Content[]>;
  /** Ends the connection, and the process of a stdio server. Running calls fail. */
  close(): Promise<void>;
}
