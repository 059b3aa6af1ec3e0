import type { Client, Tool as RemoteTool } from '@modelcontextprotocol/client';
import { checkOptions, InvalidInputError } from '../../core/index.ts';
import type { Content, Json } from '../../core/index.ts';
import { toolNames } from '../../models/index.ts';
import { raceWithAbort } from '../../models/model/race-with-abort.ts';
import { systemClock, type Clock } from '../../net/index.ts';
import { checkMaxResultCharacters } from '../tool/truncate-response.ts';
import { InvalidToolError } from '../schema/invalid-tool-error.ts';
import type { Tool } from '../tool/tool.ts';
import { MCP_TOOLSET_OPTIONS } from './vocabulary/mcp-options.ts';
import { resourcePart } from './tools/call-response.ts';
import { isBearer } from './vocabulary/mcp-auth.ts';
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
import { OAuthSession } from './auth/oauth-session.ts';
import { openTransport, type OpenedTransport } from './transport/open-transport.ts';
import { promptContent } from './tools/prompt-content.ts';
import { remoteTool } from './tools/remote-tool.ts';
import { resourceTools } from './tools/resource-tools.ts';
import { ListedTools } from './transport/listed-tools.ts';
import { AuthorizationFlow } from './auth/authorization-flow.ts';
import { isUnauthorized } from './transport/to-mcp-error.ts';

const DEFAULT_CONNECT_TIMEOUT_MS = 30_000;
const TERMINATE_TIMEOUT_MS = 500;

/**
 * Connects to an MCP server and lists its tools. Nothing is started and nobody is asked before this.
 * @throws McpConnectError, McpUnauthorizedError, McpPackageMissingError
 */
export async function openMcpToolset(options: McpToolsetOptions): Promise<McpToolset> {
  checkOptions(MCP_TOOLSET_OPTIONS, options);
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
  /** The listing that runs or ran last. */
  #listing: Promise<void> = Promise.resolve();
  #isRefreshWaiting = false;
  #tools: readonly Tool[] = [];
  #refused: readonly RefusedTool[] = [];
  #instructions: string | undefined;
  #protocolVersion: string | undefined;
  #wasOpen = false;
  /** A program of 2025: there is no need to start it twice to find out again. */
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
    this.#updateTools(listed);
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
      ...(description !== undefined && { description }),
      ...(mimeType !== undefined && { mimeType }),
      ...(size !== undefined && { size }),
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
      ...(description !== undefined && { description }),
      ...(mimeType !== undefined && { mimeType }),
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
      ...(description !== undefined && { description }),
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
    const request = { timeout: this.#connectTimeoutMs, ...(signal !== undefined && { signal }) };
    return this.#connection.use((client) => send(client, request), signal);
  }

  get #connectTimeoutMs(): number {
    return this.#options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
  }

  #updateTools(listed: readonly RemoteTool[]): void {
    const { prefix = '', name: server, resourceTools: withResources = false } = this.#options;
    const own = withResources ? resourceTools(server, this) : [];
    const taken = new Set(listed.map(({ name }) => name));
    const offered = [...taken, ...own.map(({ name }) => name).filter((name) => !taken.has(name))];
    const names = toolNames(offered.map((name) => prefix + name));
    const tools = new Map<string, Tool>();
    const refused: RefusedTool[] = [...this.#listed.refused];
    for (const remote of listed) {
      try {
        checkListed(remote, tools);
        const name = names.toProvider(prefix + remote.name);
        const renamed = name !== remote.name && { originalName: remote.name };
        tools.set(remote.name, { ...this.#remote(name, remote), ...renamed });
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        refused.push({ name: remote.name, reason });
      }
    }
    for (const one of own) {
      const name = names.toProvider(prefix + one.name);
      if (taken.has(one.name)) refused.push({ name: one.name, reason: TAKEN_BY_SERVER });
      else tools.set(one.name, { ...one, name, declaration: { ...one.declaration, name } });
    }
    for (const { name, reason } of refused) {
      this.#warn(`MCP server "${server}": tool ${JSON.stringify(name)} is left out: ${reason}`);
    }
    this.#tools = [...tools.values()];
    this.#refused = refused;
  }

  #remote(name: string, remote: RemoteTool): Tool {
    return remoteTool(name, remote, {
      connection: this.#connection,
      clock: this.#clock,
      settings: this.#options,
    });
  }

  /** One attempt to connect; a second one over a new transport when somebody signed in meanwhile. */
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
      // They are for whoever opens it: later on, a model would be told.
      const stderr = this.#wasOpen ? '' : opened.stderrTail();
      if (stderr === '' || isUnauthorized(cause)) throw cause;
      const reason = this.#secrets.redact(cause instanceof Error ? cause.message : String(cause));
      const message = `${reason}. Its last words: ${stderr}`;
      throw new McpConnectError(this.name, message, this.#secrets.cause(cause));
    }
    this.#wasOpen = true;
    this.#isLegacyStdio = isStdio && client.getProtocolEra() === 'legacy';
    this.#instructions = client.getInstructions();
    this.#protocolVersion = client.getNegotiatedProtocolVersion();
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- this client is no EventTarget
    client.onclose = () => {
      this.#protocolVersion = undefined;
      onLost();
    };
    return { client, close: () => closeClient(client, opened, this.#clock) };
  }

  /** After a refusal for lack of credentials: true when somebody has signed in since. */
  async #awaitAuthorization(error: unknown): Promise<boolean> {
    return (await this.#authorizationFlow?.awaitAuthorization(error)) ?? false;
  }

  /** However often a server tells of changes, one listing runs, and one waits for its end. */
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
    // What a server says may hold what a terminal or a log would act on.
    this.#options.onWarning?.(message.replaceAll(/\p{Cc}/gu, '\uFFFD'));
  }
}

const TAKEN_BY_SERVER = 'The server has a tool of this name: its own is offered.';
/** A description goes into every prompt. */
const MAX_DESCRIPTION_CHARACTERS = 50_000;

/** @throws InvalidToolError for what no model could call, or a prompt could not hold. */
function checkListed(
  { name, execution, description = '' }: RemoteTool,
  tools: ReadonlyMap<string, Tool>,
): void {
  if (tools.has(name)) {
    throw new InvalidToolError(name, 'the server lists two tools of this name; the first counts.');
  }
  const { length } = description;
  if (length > MAX_DESCRIPTION_CHARACTERS) {
    const problem = `its description has ${length} characters; at most ${MAX_DESCRIPTION_CHARACTERS} are taken.`;
    throw new InvalidToolError(name, problem);
  }
  if (execution?.taskSupport === 'required') {
    throw new InvalidToolError(
      name,
      'it runs as a task of the 2025 protocol, which nobody asks for here.',
    );
  }
}

async function closeClient(client: Client, { http }: OpenedTransport, clock: Clock): Promise<void> {
  // We know that it ends.
  delete client.onclose;
  if (http?.sessionId !== undefined) {
    // A courtesy: a server that does not hear it forgets the session by itself, and is not waited for.
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = clock.at(clock.now() + TERMINATE_TIMEOUT_MS, resolve);
    await Promise.race([promise, http.terminateSession().catch(() => undefined)]);
    cancel();
  }
  await client.close();
}

function createAuthorizationFlow(
  options: McpToolsetOptions,
  { sdk, secrets }: { readonly sdk: McpSdk; readonly secrets: McpSecrets },
): AuthorizationFlow | undefined {
  if ('command' in options || options.auth === undefined || isBearer(options.auth)) {
    return undefined;
  }
  const { name, url, auth } = options;
  return new AuthorizationFlow(name, url, {
    sdk,
    session: new OAuthSession({ server: name, url, secrets }, auth),
  });
}

function createAuthProvider(
  options: McpToolsetOptions,
  flow: AuthorizationFlow | undefined,
  secrets: McpSecrets,
): { readonly authProvider?: AuthorizationFlow | { token: () => Promise<string | undefined> } } {
  if (flow !== undefined) return { authProvider: flow };
  if ('command' in options || options.auth === undefined || !isBearer(options.auth)) return {};
  const { token: getToken } = options.auth;
  const token = async (): Promise<string | undefined> => {
    const value = await getToken();
    secrets.addToken(value);
    return value;
  };
  return { authProvider: { token } };
}
