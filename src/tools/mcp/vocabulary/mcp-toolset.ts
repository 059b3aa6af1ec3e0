import type { Content, Json } from '../../../core/index.ts';
import type { Tool } from '../../tool/tool.ts';
import type { Toolset } from '../../tool/toolset.ts';

/** A tool of the server that cannot be offered, and why. */
export interface RefusedTool {
  readonly name: string;
  readonly reason: string;
}

/** What ends a request to the server before its time, which is `connectTimeoutMs` of the settings. */
export interface McpRequestOptions {
  readonly signal?: AbortSignal;
}

/** Something to read at a server. */
export interface McpResource {
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** In bytes. */
  readonly size?: number;
}

/** An address with gaps, by RFC 6570. */
export interface McpResourceTemplate {
  readonly uriTemplate: string;
  readonly name: string;
  readonly description?: string;
  readonly mimeType?: string;
}

/** A conversation a server has ready to begin with. */
export interface McpPrompt {
  readonly name: string;
  readonly description?: string;
  readonly args: readonly { readonly name: string; readonly required: boolean }[];
}

/** The tools of one MCP server, and what else it has. Open until it is closed; the connection is made again when lost. */
export interface McpToolset extends Toolset, AsyncDisposable {
  /** The tools as the server last listed them. It tells of changes, and the list follows. */
  readonly tools: () => readonly Tool[];
  /** What the server lists and no model could use. */
  readonly refused: () => readonly RefusedTool[];
  /** How the server wants to be used, in its words: a part of an instruction. */
  readonly instructions: () => string | undefined;
  /** The version of the protocol that is spoken; undefined while there is no connection. */
  readonly protocolVersion: () => string | undefined;
  /** Called after each change of the tools, until the returned function is. */
  readonly onChange: (changed: () => void) => () => void;
  /** Lists the tools again. */
  refresh(): Promise<void>;
  resources(options?: McpRequestOptions): Promise<readonly McpResource[]>;
  resourceTemplates(options?: McpRequestOptions): Promise<readonly McpResourceTemplate[]>;
  /** The contents of a resource, as parts. */
  readResource(uri: string, options?: McpRequestOptions): Promise<readonly Json[]>;
  prompts(options?: McpRequestOptions): Promise<readonly McpPrompt[]>;
  /** A prompt with its gaps filled in, as messages to begin a conversation with. */
  prompt(
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: McpRequestOptions,
  ): Promise<readonly Content[]>;
  /** Ends the connection, and the program if it is one. Calls that run end with an error. */
  close(): Promise<void>;
}
