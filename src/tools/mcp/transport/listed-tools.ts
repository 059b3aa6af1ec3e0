import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { McpSdk } from '../vocabulary/mcp-sdk.ts';
import type { RefusedTool } from '../vocabulary/mcp-toolset.ts';

/** The most tools accepted from one server. */
const MAX_TOOLS = 1_000;

/**
 * Filters the tools of a listing before the MCP package parses it: one invalid tool would make the
 * package reject the whole listing.
 */
export class ListedTools {
  readonly #sdk: Pick<McpSdk, 'specTypeSchemas'>;
  #requestIds = new Set<string | number>();
  #count = 0;
  #refused: RefusedTool[] = [];

  constructor(sdk: Pick<McpSdk, 'specTypeSchemas'>) {
    this.#sdk = sdk;
  }

  /** Invalid tools of the last listing, and those above the limit. */
  get refused(): readonly RefusedTool[] {
    return this.#refused;
  }

  /** Starts a new listing, which may have several pages. */
  begin(): void {
    this.#requestIds = new Set();
    this.#count = 0;
    this.#refused = [];
  }

  /** Records the ids of `tools/list` requests. */
  trackRequests(transport: Transport): void {
    const send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      for (const request of Array.isArray(message) ? message : [message]) {
        if ('method' in request && 'id' in request && request.method === 'tools/list')
          this.#requestIds.add(request.id);
      }
      return send(message, options);
    };
  }

  /** The message without its invalid tools. */
  filterTools(message: JSONRPCMessage): JSONRPCMessage {
    if (!('result' in message) || message.id === undefined) return message;
    if (!this.#requestIds.delete(message.id)) return message;
    const { tools } = message.result;
    if (!Array.isArray(tools)) return message;
    return {
      ...message,
      result: { ...message.result, tools: tools.filter((tool: unknown) => this.#isAccepted(tool)) },
    };
  }

  #isAccepted(tool: unknown): boolean {
    const reason = this.#count >= MAX_TOOLS ? LIMIT : this.#findProblem(tool);
    if (reason === undefined) {
      this.#count += 1;
      return true;
    }
    // One entry is enough for all tools above the limit.
    if (reason !== LIMIT || this.#refused.at(-1)?.reason !== LIMIT) {
      if (this.#refused.length < MAX_TOOLS) this.#refused.push({ name: readName(tool), reason });
    }
    return false;
  }

  #findProblem(tool: unknown): string | undefined {
    const result = this.#sdk.specTypeSchemas.Tool['~standard'].validate(tool);
    if (result instanceof Promise || result.issues === undefined) return undefined;
    const [issue] = result.issues;
    const path = (issue?.path ?? []).map((key) => String(typeof key === 'object' ? key.key : key));
    return `It is not a valid tool: ${[path.join('.'), issue?.message].filter(Boolean).join(': ')}.`;
  }
}

const LIMIT = `The server lists more than ${MAX_TOOLS} tools. This one and those after it are not offered.`;

function readName(tool: unknown): string {
  const hasName = typeof tool === 'object' && tool !== null && 'name' in tool;
  return hasName && typeof tool.name === 'string' ? tool.name : '(no name)';
}
