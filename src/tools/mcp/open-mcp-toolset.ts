import { omitUndefined, checkDefinition } from '../../core/internal.ts';
import type { Client, Tool as RemoteTool } from '@modelcontextprotocol/client';
import { InvalidInputError } from '../../core/index.ts';
import type { Content, Json } from '../../core/index.ts';
import { raceWithAbort } from '../../models/internal.ts';
import { systemClock, type Clock } from '../../net/index.ts';
import { checkMaxResultCharacters } from '../tool/truncate-response.ts';
import type { Tool } from '../tool/tool.ts';
import { MCP_TOOLSET_OPTIONS } from './vocabulary/mcp-options.ts';
import { resourcePart } from './tools/call-response.ts';
import { createMcpClient } from './mcp-client.ts';
import { McpConnection, type OpenedClient } from './transport/mcp-connection.ts';
import { McpConnectError } from './vocabulary/mcp-errors.ts';
import type { McpToolsetOptions } from './vocabulary/mcp-options.ts';
import { McpSecrets } from './vocabulary/mcp-secrets.ts';
import { loadMcpSdk, type McpSdk } from './vocabulary/mcp-sdk.ts';
import type {
  McpPrompt,
  McpRequestOptions,
  McpResource,
  McpResourceTemplate,
  McpToolset,
  RefusedTool,
} from './vocabulary/mcp-toolset.ts';
import { openTransport, type OpenedTransport } from './transport/open-transport.ts';
import { promptContent } from './tools/prompt-content.ts';
import { remoteTool } from './tools/remote-tool.ts';
import { resourceTools } from './tools/resource-tools.ts';
import { selectListedTools } from './tools/select-listed-tools.ts';
import { ListedTools } from './transport/listed-tools.ts';
import type { AuthorizationFlow } from './auth/authorization-flow.ts';
import { createAuthorizationFlow, createAuthProvider } from './auth/create-auth-provider.ts';
import { isUnauthorized } from './transport/to-mcp-error.ts';

const DEFAULT_CONNECT_TIMEOUT_MS = 30_000;
const TERMINATE_TIMEOUT_MS = 500;

/**
 * Connects to an MCP server and lists its tools. No process is started and no person is asked
 * before this call.
 * @throws McpConnectError if the server cannot be reached
 * @throws McpUnauthorizedError if authorization fails
 * @throws McpPackageMissingError if `@modelcontextprotocol/client` is not installed
 * @throws InvalidInputError if an option is not valid
 */
export async function openMcpToolset(options: McpToolsetOptions): Promise<McpToolset> {
  checkDefinition(MCP_TOOLSET_OPTIONS, options);
  checkMaxResultCharacters(options.maxResultCharacters);
  const { maxMessageBytes } = options;
  if (
    maxMessageBytes !== undefined &&
    !(Number.isSafeInteger(maxMessageBytes) && maxMessageBytes > 0)
  )
    throw new InvalidInputError(
      'maxMessageBytes',
      `must be a whole number above 0; it is ${String(maxMessageBytes)}.`,
    );
  const opened = new OpenMcpToolset(options, await loadMcpSdk());
  try {
    await opened.refresh();
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

class OpenMcpToolset implements McpToolset {
  readonly name: string;
  readonly #options: McpToolsetOptions;
  readonly #sdk: McpSdk;
  readonly #clock: Clock;
  readonly #connection: McpConnection;
  readonly #authorizationFlow: AuthorizationFlow | undefined;
  readonly #secrets: McpSecrets;
  readonly #listeners = new Set<() => void>();
  readonly #listed: ListedTools;
  /** The running or last listing. */
  #listing: Promise<void> = Promise.resolve();
  #isRefreshWaiting = false;
  #tools: readonly Tool[] = [];
  #refused: readonly RefusedTool[] = [];
  #instructions: string | undefined;
  #protocolVersion: string | undefined;
  #wasOpen = false;
  /** A stdio server of the 2025 protocol: a reconnect need not start it twice to detect that. */
  #isLegacyStdio = false;

  constructor(options: McpToolsetOptions, sdk: McpSdk) {
    this.name = options.name;
    this.#options = options;
    this.#sdk = sdk;
    this.#listed = new ListedTools(sdk);
    this.#clock = options.clock ?? systemClock;
    this.#secrets = new McpSecrets(options);
    this.#authorizationFlow = createAuthorizationFlow(options, { sdk, secrets: this.#secrets });
    this.#connection = new McpConnection({
      server: options.name,
      secrets: this.#secrets,
      clock: this.#clock,
      open: (onLost, signal) => this.#open(onLost, signal),
      onReconnected: () => this.#refreshInBackground(),
      onWarning: (message) => this.#warn(message),
      authorize: (error) => this.#awaitAuthorization(error),
    });
  }

  readonly tools = (): readonly Tool[] => this.#tools;
  readonly refused = (): readonly RefusedTool[] => this.#refused;
  readonly protocolVersion = (): string | undefined => this.#protocolVersion;
  readonly instructions = (): string | undefined => this.#instructions;

  readonly onChange = (changed: () => void): (() => void) => {
    const listener = (): void => changed();
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  async refresh(): Promise<void> {
    const listing = this.#listing.then(async () => this.#list());
    this.#listing = listing.catch(() => undefined);
    return listing;
  }

  async #list(): Promise<void> {
    this.#listed.begin();
    const { tools: remote } = await this.#request((client, request) =>
      client.listTools(undefined, { ...request, cacheMode: 'refresh' }),
    );
    const allowed = this.#options.tools;
    const listed =
      allowed === undefined ? remote : remote.filter(({ name }) => allowed.includes(name));
    const before = JSON.stringify(this.#tools.map(({ declaration }) => declaration));
    const { prefix = '', name: server, resourceTools: withResources = false } = this.#options;
    const { tools, refused } = selectListedTools(listed, {
      prefix,
      invalid: this.#listed.refused,
      ownTools: withResources ? resourceTools(server, this) : [],
      toTool: (name, tool) => this.#toTool(name, tool),
    });
    for (const { name, reason } of refused) {
      this.#warn(`MCP server "${server}": tool ${JSON.stringify(name)} is not offered: ${reason}`);
    }
    this.#tools = tools;
    this.#refused = refused;
    const after = JSON.stringify(this.#tools.map(({ declaration }) => declaration));
    if (before !== after) for (const listener of this.#listeners) listener();
  }

  async resources(options?: McpRequestOptions): Promise<readonly McpResource[]> {
    const { resources } = await this.#request(
      (client, request) => client.listResources(undefined, request),
      options,
    );
    return resources.map(({ uri, name, description, mimeType, size }) => ({
      uri,
      name,
      ...omitUndefined({ description, mimeType, size }),
    }));
  }

  async resourceTemplates(options?: McpRequestOptions): Promise<readonly McpResourceTemplate[]> {
    const { resourceTemplates } = await this.#request(
      (client, request) => client.listResourceTemplates(undefined, request),
      options,
    );
    return resourceTemplates.map(({ uriTemplate, name, description, mimeType }) => ({
      uriTemplate,
      name,
      ...omitUndefined({ description, mimeType }),
    }));
  }

  async readResource(uri: string, options?: McpRequestOptions): Promise<readonly Json[]> {
    const { contents } = await this.#request(
      (client, request) => client.readResource({ uri }, request),
      options,
    );
    return contents.map((content) => resourcePart(content));
  }

  async prompts(options?: McpRequestOptions): Promise<readonly McpPrompt[]> {
    const { prompts } = await this.#request(
      (client, request) => client.listPrompts(undefined, request),
      options,
    );
    return prompts.map(({ name, description, arguments: args = [] }) => ({
      name,
      ...omitUndefined({ description }),
      args: args.map((arg) => ({ name: arg.name, required: arg.required === true })),
    }));
  }

  async prompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options?: McpRequestOptions,
  ): Promise<readonly Content[]> {
    const { messages } = await this.#request(
      (client, request) => client.getPrompt({ name, arguments: { ...args } }, request),
      options,
    );
    return messages.map((message) => promptContent(message));
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    await this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #request<T>(
    send: (client: Client, request: { timeout: number; signal?: AbortSignal }) => Promise<T>,
    { signal }: McpRequestOptions = {},
  ): Promise<T> {
    const request = { timeout: this.#connectTimeoutMs, ...omitUndefined({ signal }) };
    return this.#connection.use((client) => send(client, request), signal);
  }

  get #connectTimeoutMs(): number {
    return this.#options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
  }

  #toTool(name: string, remote: RemoteTool): Tool {
    return remoteTool(name, remote, {
      connection: this.#connection,
      clock: this.#clock,
      settings: this.#options,
    });
  }

  /**
   * Connects once; a second time over a new transport if an authorization was needed and completed.
   */
  async #open(onLost: () => void, signal: AbortSignal): Promise<OpenedClient> {
    try {
      return await this.#connect(onLost);
    } catch (error) {
      if (!(await raceWithAbort(this.#awaitAuthorization(error), signal))) throw error;
      return this.#connect(onLost);
    }
  }

  async #connect(onLost: () => void): Promise<OpenedClient> {
    const isStdio = 'command' in this.#options;
    const client = createMcpClient({
      sdk: this.#sdk,
      settings: { ...this.#options, connectTimeoutMs: this.#connectTimeoutMs },
      isStdio,
      onToolsChanged: () => this.#refreshInBackground(),
    });
    const opened = openTransport(this.#options, {
      sdk: this.#sdk,
      clock: this.#clock,
      secrets: this.#secrets,
      listed: this.#listed,
      ...createAuthProvider(this.#options, this.#authorizationFlow, this.#secrets),
    });
    try {
      await client.connect(opened.transport, {
        timeout: this.#connectTimeoutMs,
        ...(this.#isLegacyStdio && { prior: { kind: 'legacy' } }),
      });
    } catch (cause) {
      await client.close().catch(() => undefined);
      // The output is for the code that opens the toolset. On a reconnect, the error would go to a
      // model.
      const stderr = this.#wasOpen ? '' : opened.stderrTail();
      if (stderr === '' || isUnauthorized(cause)) throw cause;
      const reason = this.#secrets.redact(cause instanceof Error ? cause.message : String(cause));
      const message = `${reason}. Its standard error ended with: ${stderr}`;
      throw new McpConnectError(this.name, message, this.#secrets.cause(cause));
    }
    this.#wasOpen = true;
    this.#isLegacyStdio = isStdio && client.getProtocolEra() === 'legacy';
    this.#instructions = client.getInstructions();
    this.#protocolVersion = client.getNegotiatedProtocolVersion();
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- this client is not an EventTarget
    client.onclose = () => {
      this.#protocolVersion = undefined;
      onLost();
    };
    return { client, close: () => closeClient(client, opened, this.#clock) };
  }

  /** After a rejected request: true once an authorization is complete. */
  async #awaitAuthorization(error: unknown): Promise<boolean> {
    return (await this.#authorizationFlow?.awaitAuthorization(error)) ?? false;
  }

  /**
   * Lists the tools again after a change. At most one listing runs and one waits, however many
   * changes a server reports.
   */
  #refreshInBackground(): void {
    if (this.#isRefreshWaiting) return;
    this.#isRefreshWaiting = true;
    const listing = this.#listing.then(async () => {
      this.#isRefreshWaiting = false;
      return this.#list();
    });
    this.#listing = listing.catch((error: unknown) => {
      this.#warn(error instanceof Error ? error.message : String(error));
    });
  }

  #warn(message: string): void {
    // Text of a server may contain control characters that a terminal or a log would act on.
    this.#options.onWarning?.(message.replaceAll(/\p{Cc}/gu, '\uFFFD'));
  }
}

async function closeClient(client: Client, { http }: OpenedTransport, clock: Clock): Promise<void> {
  // This end is expected.
  delete client.onclose;
  if (http?.sessionId !== undefined) {
    // Best effort: a server that does not receive it expires the session by itself, so the wait is
    // short.
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = clock.at(clock.now() + TERMINATE_TIMEOUT_MS, resolve);
    await Promise.race([promise, http.terminateSession().catch(() => undefined)]);
    cancel();
  }
  await client.close();
}
