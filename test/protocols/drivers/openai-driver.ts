import { randomUUID } from 'node:crypto';
import type { Answer, AskedCall, Conversation, DeclaredTool, ProtocolDriver } from '../driver.ts';

const NO_AGENTS = 'a response has the messages of sub-agents, and not their starts and ends';

// The package is installed in test/protocols only, so its name is not written as an import.
const OPENAI = 'openai';

interface OutputItem {
  readonly type: string;
  readonly id?: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly output?: string | null;
  readonly content?: readonly { readonly text?: string }[];
}

interface ResponseObject {
  readonly id: string;
  readonly status: string;
  readonly output: readonly OutputItem[];
  readonly error: { readonly message: string } | null;
}

interface StreamEvent {
  readonly type: string;
  readonly response?: ResponseObject;
  readonly item?: OutputItem;
  readonly delta?: string;
  readonly sequence_number?: number;
}

interface Chunk {
  readonly choices: readonly {
    readonly finish_reason: string | null;
    readonly delta: {
      readonly content?: string | null;
      readonly tool_calls?: readonly {
        readonly id: string;
        readonly function: { readonly name: string; readonly arguments: string };
      }[];
    };
  }[];
}

interface OpenAIModule {
  readonly default: new (options: object) => {
    readonly responses: {
      create(body: object): Promise<AsyncIterable<StreamEvent>>;
      retrieve(id: string, query: object): Promise<AsyncIterable<StreamEvent>>;
      cancel(id: string): Promise<ResponseObject>;
    };
    readonly chat: {
      readonly completions: {
        create(body: object): Promise<AsyncIterable<Chunk>>;
      };
    };
  };
}

type Client = InstanceType<OpenAIModule['default']>;

async function openClient(url: string): Promise<Client> {
  const { default: OpenAI } = (await import(OPENAI)) as OpenAIModule;
  return new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: 'none' });
}

/** The Responses API of the stock `openai` client. */
export const openAiDriver: ProtocolDriver = {
  name: 'openai responses',
  protocol: 'openai',
  rules: {
    'approval, yes and no':
      'a call that needs an approval is an mcp_approval_request: the API has no other',
    'sub-agents': NO_AGENTS,
  },
  cannot: ['sub-agents'],
  open: async ({ url, agentId }) => new ResponsesConversation(await openClient(url), agentId),
};

class ResponsesConversation implements Conversation {
  readonly id: string = randomUUID();
  readonly #client: Client;
  readonly #model: string;
  #response: string | undefined;
  #tools: readonly DeclaredTool[] = [];
  /** What the conversation has since its last message. */
  #items: readonly OutputItem[] = [];

  constructor(client: Client, model: string) {
    this.#client = client;
    this.#model = model;
  }

  async send(
    text: string,
    { tools = [], onPiece }: Parameters<Conversation['send']>[1] = {},
  ): Promise<Answer> {
    this.#tools = tools;
    this.#items = [];
    return this.#create([{ role: 'user', content: text }], onPiece);
  }

  async approve({ id }: AskedCall, approve: boolean): Promise<Answer> {
    return this.#create([{ type: 'mcp_approval_response', approval_request_id: id, approve }]);
  }

  async answer({ id }: AskedCall, output: string): Promise<Answer> {
    return this.#create([{ type: 'function_call_output', call_id: id, output }]);
  }

  async cancel(): Promise<void> {
    await this.#client.responses.cancel(this.#response ?? '');
  }

  async reconnect(): Promise<Answer> {
    this.#items = [];
    return this.#read(
      await this.#client.responses.retrieve(this.#response ?? '', { stream: true }),
      undefined,
    );
  }

  async #create(input: readonly object[], onPiece?: () => void): Promise<Answer> {
    const events = await this.#client.responses.create({
      model: this.#model,
      conversation: this.id,
      input,
      stream: true,
      tools: this.#tools.map((tool) => ({ type: 'function', strict: false, ...tool })),
    });
    return this.#read(events, onPiece);
  }

  async #read(events: AsyncIterable<StreamEvent>, onPiece?: () => void): Promise<Answer> {
    let pieces = 0;
    let numbers: readonly number[] = [];
    let response: ResponseObject | undefined;
    let added: readonly OutputItem[] = [];
    for await (const event of events) {
      numbers = [...numbers, event.sequence_number ?? -1];
      ({ response = response } = event);
      this.#response = response?.id;
      if (event.type === 'response.output_item.done' && event.item !== undefined)
        added = [...added, event.item];
      if (event.type !== 'response.output_text.delta') continue;
      pieces++;
      onPiece?.();
    }
    if (numbers.some((number, index) => index > 0 && number <= (numbers[index - 1] ?? 0)))
      throw new Error(`The sequence numbers do not grow: ${numbers.join(' ')}`);
    if (response === undefined) throw new Error('The stream has no response.');
    const { output, error, status } = response;
    if (status === 'completed' && JSON.stringify(output) !== JSON.stringify(added))
      throw new Error('The response has other items than its stream.');
    this.#items = [...this.#items, ...output];
    return {
      text: this.#items
        .flatMap(({ type, content = [] }) => (type === 'message' ? content : []))
        .map(({ text = '' }) => text)
        .join(''),
      pieces,
      results: this.#items.flatMap(({ type, output: result }) =>
        type === 'mcp_call' && typeof result === 'string' ? [result] : [],
      ),
      asked: output.flatMap(({ type, id = '', call_id = '', name = '' }): readonly AskedCall[] => {
        if (type === 'mcp_approval_request') return [{ id, name, needs: 'approval' }];
        return type === 'function_call' ? [{ id: call_id, name, needs: 'result' }] : [];
      }),
      error: error?.message,
      isCancelled: status === 'cancelled',
    };
  }
}

const NO_TOOLS = 'a chat completion shows no calls of the server: read the session';
const NO_APPROVAL = 'a chat completion has no approval: its text says which call waits';

/** Chat Completions of the stock `openai` client, in a session that is named in `metadata`. */
export const openAiChatDriver: ProtocolDriver = {
  name: 'openai chat',
  protocol: 'openai',
  rules: {
    'two parallel tools': NO_TOOLS,
    'approval, yes and no': NO_APPROVAL,
    cancel: 'a chat completion has no cancel, and a lost connection stops nothing',
    'lost connection': 'a chat completion cannot be read again: read the session',
    'sub-agents': NO_AGENTS,
  },
  cannot: ['two parallel tools', 'approval, yes and no', 'cancel', 'lost connection', 'sub-agents'],
  open: async ({ url, agentId }) => new ChatConversation(await openClient(url), agentId),
};

class ChatConversation implements Conversation {
  readonly id: string = randomUUID();
  readonly #client: Client;
  readonly #model: string;
  #messages: readonly object[] = [];
  #tools: readonly DeclaredTool[] = [];

  constructor(client: Client, model: string) {
    this.#client = client;
    this.#model = model;
  }

  async send(
    content: string,
    { tools = [], onPiece }: Parameters<Conversation['send']>[1] = {},
  ): Promise<Answer> {
    this.#tools = tools;
    this.#messages = [...this.#messages, { role: 'user', content }];
    return this.#run(onPiece);
  }

  async approve(): Promise<Answer> {
    return Promise.reject(new Error(NO_APPROVAL));
  }

  async answer({ id }: AskedCall, content: string): Promise<Answer> {
    this.#messages = [...this.#messages, { role: 'tool', tool_call_id: id, content }];
    return this.#run();
  }

  async cancel(): Promise<void> {
    return Promise.reject(new Error('Chat completions have no cancel.'));
  }

  async reconnect(): Promise<Answer> {
    return Promise.reject(new Error('A chat completion cannot be read again.'));
  }

  async #run(onPiece?: () => void): Promise<Answer> {
    const none = { results: [], asked: [], isCancelled: false };
    let text = '';
    let pieces = 0;
    const calls: NonNullable<Chunk['choices'][number]['delta']['tool_calls']>[number][] = [];
    try {
      const chunks = await this.#client.chat.completions.create({
        model: this.#model,
        messages: this.#messages,
        metadata: { session_id: this.id },
        stream: true,
        tools: this.#tools.map((tool) => ({ type: 'function', function: tool })),
      });
      for await (const { choices } of chunks)
        for (const { delta } of choices) {
          calls.push(...(delta.tool_calls ?? []));
          if (delta.content == null || delta.content === '') continue;
          text += delta.content;
          pieces++;
          onPiece?.();
        }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { ...none, text, pieces, error: message };
    }
    this.#messages = [...this.#messages, { role: 'assistant', content: text, tool_calls: calls }];
    return {
      ...none,
      text,
      pieces,
      asked: calls.map((call) => ({ id: call.id, name: call.function.name, needs: 'result' })),
      error: undefined,
    };
  }
}
