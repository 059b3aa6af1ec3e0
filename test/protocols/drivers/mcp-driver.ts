import { randomUUID } from 'node:crypto';
import type { Answer, AskedCall, Conversation, ProtocolDriver } from '../driver.ts';

// The package is installed in test/protocols, so its name is not written as an import.
const MCP_CLIENT = '@modelcontextprotocol/client';

interface AgentAnswer {
  readonly session_id: string;
  readonly status: string;
  readonly text: string;
  readonly tool_results?: readonly { readonly response: unknown }[];
  readonly waits?: readonly {
    readonly call_id: string;
    readonly name: string;
    readonly needs: AskedCall['needs'];
  }[];
  readonly error?: { readonly message: string };
}

interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly text?: string }[];
  readonly structuredContent?: AgentAnswer;
}

interface ElicitRequest {
  readonly params: { readonly message: string };
}

/** The methods of the stock client that tests use. */
export interface McpStockClient {
  connect(transport: object): Promise<void>;
  close(): Promise<void>;
  callTool(call: object, options?: object): Promise<ToolResult>;
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  readResource(request: {
    readonly uri: string;
  }): Promise<{ readonly contents: readonly { readonly text: string }[] }>;
  setRequestHandler(method: string, answer: (request: ElicitRequest) => Promise<object>): void;
}

interface McpModule {
  readonly Client: new (info: object, options: object) => McpStockClient;
  readonly StreamableHTTPClientTransport: new (url: URL) => object;
}

function createMcpDriver(name: string, mode: 'auto' | 'legacy'): ProtocolDriver {
  return {
    name,
    protocol: 'mcp',
    rules: {
      'streamed text': 'text comes as progress of the call, if the client asks for it',
      'client tool': '_meta of the call: MCP has no tools of clients',
      'approval, yes and no':
        mode === 'auto'
          ? 'elicitation during the call'
          : 'a result that says what waits, and another call with answers',
      'lost connection': 'the call again with its message_id',
      'sub-agents': 'a result has no sub-agents: their starts are progress of the call',
      ...(mode === 'legacy' && {
        cancel: 'another call with interrupt: cancelled notifications need a connection',
      }),
    },
    cannot: ['sub-agents'],
    open: async ({ url, agentId }) => {
      const sdk = (await import(MCP_CLIENT)) as McpModule;
      const client = new sdk.Client(
        { name: 'test', version: '1' },
        {
          versionNegotiation: { mode },
          capabilities: mode === 'auto' ? { elicitation: { form: {} } } : {},
        },
      );
      let conversation: McpConversation | undefined;
      if (mode === 'auto')
        client.setRequestHandler(
          'elicitation/create',
          async ({ params }) => conversation?.ask(params.message) ?? { action: 'cancel' },
        );
      await client.connect(new sdk.StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
      const names = (await client.listTools()).tools.map(({ name }) => name);
      // A stored agent has its id as the name of its tool.
      const tool = names.find((name) => name === agentId) ?? agentId.replace(/^agent_/, '');
      conversation = new McpConversation(client, tool, mode === 'legacy');
      return conversation;
    },
  };
}

/** The stock client, in the protocol of 2026-07-28 and of 2025. */
export const mcpDrivers: readonly ProtocolDriver[] = [
  createMcpDriver('@modelcontextprotocol/client', 'auto'),
  createMcpDriver('@modelcontextprotocol/client, 2025', 'legacy'),
];

class McpConversation implements Conversation {
  readonly id: string = randomUUID();
  readonly #client: McpStockClient;
  readonly #tool: string;
  readonly #isLegacy: boolean;
  #message = '';
  #messageId = '';
  #pieces = 0;
  #isAbandoned = false;
  #stop = new AbortController();
  #question = Promise.withResolvers<AskedCall>();
  #reply = Promise.withResolvers<object>();
  #running: Promise<Answer> | undefined;

  constructor(client: McpStockClient, tool: string, isLegacy: boolean) {
    this.#client = client;
    this.#tool = tool;
    this.#isLegacy = isLegacy;
  }

  async send(
    message: string,
    { tools = [], onPiece }: Parameters<Conversation['send']>[1] = {},
  ): Promise<Answer> {
    this.#message = message;
    this.#messageId = randomUUID();
    this.#pieces = 0;
    this.#stop = new AbortController();
    const meta = tools.length === 0 ? {} : { _meta: { 'petrichor/client-tools': tools } };
    return this.#call({ message, message_id: this.#messageId }, meta, onPiece);
  }

  async approve(call: AskedCall, approved: boolean): Promise<Answer> {
    return this.#answer(call, { approved });
  }

  async answer(call: AskedCall, result: string): Promise<Answer> {
    // A form has no objects.
    const value: unknown = this.#running === undefined ? JSON.parse(result) : result;
    return this.#answer(call, { result: value });
  }

  async cancel(): Promise<void> {
    if (!this.#isLegacy) return this.#stop.abort();
    const call = { session_id: this.id, interrupt: true };
    await this.#client.callTool({ name: this.#tool, arguments: call });
  }

  async reconnect(): Promise<Answer> {
    // A client of 2025 waits for a lost response until its timeout.
    this.#isAbandoned = true;
    this.#stop.abort();
    this.#stop = new AbortController();
    return this.#call({ message: this.#message, message_id: this.#messageId }, {});
  }

  /** The person whom the client asks. */
  async ask(message: string): Promise<object> {
    const [, name = message] = /^(?:Approve the call of )?(\w+)/.exec(message) ?? [];
    const needs = message.startsWith('Approve') ? 'approval' : 'result';
    this.#question.resolve({ id: 'asked', name, needs });
    return this.#reply.promise;
  }

  async #answer({ id }: AskedCall, content: object): Promise<Answer> {
    if (this.#running === undefined)
      return this.#call({ answers: [{ call_id: id, ...content }] }, {});
    const running = this.#running;
    this.#question = Promise.withResolvers();
    this.#reply.resolve({ action: 'accept', content });
    this.#reply = Promise.withResolvers();
    return this.#race(running);
  }

  async #call(args: object, meta: object, onPiece?: () => void): Promise<Answer> {
    this.#question = Promise.withResolvers();
    return this.#race(this.#run(args, meta, onPiece));
  }

  /** The result of a call, or the question that comes before it. */
  async #race(running: Promise<Answer>): Promise<Answer> {
    this.#running = running;
    const asked = this.#question.promise.then((call): Answer => ({
      text: '',
      pieces: 0,
      results: [],
      asked: [call],
      error: undefined,
      isCancelled: false,
    }));
    const answer = await Promise.race([running, asked]);
    if (answer.asked[0]?.id !== 'asked') this.#running = undefined;
    return answer;
  }

  async #run(args: object, meta: object, onPiece?: () => void): Promise<Answer> {
    const call = { name: this.#tool, arguments: { session_id: this.id, ...args }, ...meta };
    const onprogress = (): void => {
      this.#pieces++;
      onPiece?.();
    };
    const options = { signal: this.#stop.signal, onprogress, timeout: 600_000 };
    let result: ToolResult;
    try {
      result = await this.#client.callTool(call, options);
    } catch (error) {
      if (!this.#stop.signal.aborted || this.#isAbandoned) throw error;
      return this.#cancelled();
    }
    const { structuredContent, content, isError = false } = result;
    const { text = '', tool_results = [], waits = [] } = structuredContent ?? {};
    return {
      text,
      pieces: this.#pieces,
      results: tool_results.map(({ response }) => JSON.stringify(response)),
      asked: waits.map(({ call_id, name, needs }) => ({ id: call_id, name, needs })),
      error: isError ? content.map((one) => one.text ?? '').join('') : undefined,
      isCancelled: structuredContent?.status === 'interrupted',
    };
  }

  /** A cancelled call has no result. The log of the session says how its turn ended. */
  async #cancelled(): Promise<Answer> {
    interface Log {
      readonly events: readonly { readonly type: string; readonly stopReason?: string }[];
    }
    for (;;) {
      const uri = `petrichor://sessions/${this.id}/log`;
      const { contents } = await this.#client.readResource({ uri });
      const { events } = JSON.parse(contents[0]?.text ?? '{}') as Log;
      const ended = events.findLast(({ type }) => type === 'turn.ended');
      if (ended === undefined) continue;
      const isCancelled = ended.stopReason === 'interrupted';
      return { text: '', pieces: 0, results: [], asked: [], error: undefined, isCancelled };
    }
  }
}
