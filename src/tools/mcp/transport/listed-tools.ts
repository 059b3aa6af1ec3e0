import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { McpSdk } from '../vocabulary/mcp-sdk.ts';
import type { RefusedTool } from '../vocabulary/mcp-toolset.ts';

/** How many tools of one server are taken. */
const MAX_TOOLS = 1_000;

/** Sees each tool that a server lists before the package does: one that is no tool would make the package refuse all. */
export class ListedTools {
  readonly #sdk: Pick<McpSdk, 'specTypeSchemas'>;
  #requestIds = new Set<string | number>();
  #count = 0;
  #refused: RefusedTool[] = [];

  constructor(sdk: Pick<McpSdk, 'specTypeSchemas'>) {
    this.#sdk = sdk;
  }

  /** Entries of the last listing that are no tools, and those above the limit. */
  get refused(): readonly RefusedTool[] {
    return this.#refused;
  }

  /** A new listing begins: of several pages, maybe. */
  begin(): void {
    this.#requestIds = new Set();
    this.#count = 0;
    this.#refused = [];
  }

  /** Notes which requests are for tools. */
  trackRequests(transport: Transport): void {
    const send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      for (const one of Array.isArray(message) ? message : [message]) {
        if ('method' in one && 'id' in one && one.method === 'tools/list')
          this.#requestIds.add(one.id);
      }
      return send(message, options);
    };
  }

  /** The message, without what is no tool. */
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
    // Of those above the limit one says enough.
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
    return `It is no tool of the protocol: ${[path.join('.'), issue?.message].filter(Boolean).join(': ')}.`;
  }
}

const LIMIT = `The server lists more than ${MAX_TOOLS} tools: this one and those after it are left out.`;

function readName(tool: unknown): string {
  const hasName = typeof tool === 'object' && tool !== null && 'name' in tool;
  return hasName && typeof tool.name === 'string' ? tool.name : '(no name)';
}
