import { randomUUID } from 'node:crypto';
import type { Answer, AskedCall, Conversation, DeclaredTool, ProtocolDriver } from '../driver.ts';

interface UiPart {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly state?: string;
  readonly output?: unknown;
  readonly errorText?: string;
  readonly approval?: { readonly id: string };
  readonly data?: { readonly name: string; readonly status: string };
}

interface UiMessage {
  readonly id: string;
  readonly role: string;
  readonly parts: readonly UiPart[];
}

interface Chunk {
  readonly type: string;
  readonly errorText?: string;
}

interface AiModule {
  readonly DefaultChatTransport: new (options: object) => {
    sendMessages(options: object): Promise<ReadableStream<Chunk>>;
    reconnectToStream(options: object): Promise<ReadableStream<Chunk> | null>;
  };
  readonly readUIMessageStream: (options: object) => AsyncIterable<UiMessage>;
}

/** The stock transport of one major of the AI SDK. */
function createAiSdkDriver(name: string, specifier: string): ProtocolDriver {
  return {
    name,
    protocol: 'ai-sdk',
    rules: {
      cancel:
        'stopping the transport closes the connection, which stops no turn: the server has a route',
      'lost connection':
        'a turn that has ended is not streamed by GET: the same message is sent again',
    },
    open: async ({ url, agentId, sessionId }) =>
      new AiSdkConversation(
        (await import(specifier)) as AiModule,
        `${url}/ai-sdk/${agentId}`,
        sessionId,
      ),
  };
}

// The packages are installed in test/protocols only, so their names are not written as imports.
export const aiSdkDrivers: readonly ProtocolDriver[] = [
  createAiSdkDriver('ai 7', 'ai7'),
  createAiSdkDriver('ai 6', 'ai6'),
];

class AiSdkConversation implements Conversation {
  readonly id: string;
  readonly #ai: AiModule;
  readonly #api: string;
  #messages: readonly UiMessage[] = [];
  #tools: readonly DeclaredTool[] = [];

  constructor(ai: AiModule, api: string, id: string = randomUUID()) {
    this.id = id;
    this.#ai = ai;
    this.#api = api;
  }

  async send(
    text: string,
    { tools = [], onPiece }: Parameters<Conversation['send']>[1] = {},
  ): Promise<Answer> {
    this.#tools = tools;
    const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] };
    this.#messages = [...this.#messages, message];
    return this.#run(onPiece);
  }

  async approve({ id }: AskedCall, approved: boolean): Promise<Answer> {
    this.#changePart(id, { state: 'approval-responded', approval: { id, approved } });
    return this.#run();
  }

  async answer({ id }: AskedCall, result: string): Promise<Answer> {
    this.#changePart(id, { state: 'output-available', output: JSON.parse(result) as unknown });
    return this.#run();
  }

  async cancel(): Promise<void> {
    const response = await fetch(`${this.#api}/${this.id}/stop`, { method: 'POST' });
    if (!response.ok) throw new Error(await response.text());
  }

  async reconnect(): Promise<Answer> {
    const running = await this.#transport().reconnectToStream({ chatId: this.id });
    if (running !== null) throw new Error('A turn that has ended is streamed.');
    const last = this.#messages.findLastIndex(({ role }) => role === 'user');
    this.#messages = this.#messages.slice(0, last + 1);
    return this.#run();
  }

  #transport(): InstanceType<AiModule['DefaultChatTransport']> {
    return new this.#ai.DefaultChatTransport({ api: this.#api, body: { tools: this.#tools } });
  }

  #changePart(callId: string, change: object): void {
    this.#messages = this.#messages.map((message) => ({
      ...message,
      parts: message.parts.map((part) =>
        part.toolCallId === callId ? { ...part, ...change } : part,
      ),
    }));
  }

  async #run(onPiece?: () => void): Promise<Answer> {
    const chunks: Chunk[] = [];
    const stream = await this.#transport().sendMessages({
      chatId: this.id,
      messages: this.#messages,
      trigger: 'submit-message',
      abortSignal: undefined,
    });
    const seen = stream.pipeThrough(
      new TransformStream<Chunk, Chunk>({
        transform: (chunk, controller) => {
          chunks.push(chunk);
          if (chunk.type === 'text-delta') onPiece?.();
          controller.enqueue(chunk);
        },
      }),
    );
    const last = this.#messages.at(-1);
    const message = last?.role === 'assistant' ? last : undefined;
    let read: UiMessage | undefined = message;
    for await (const state of this.#ai.readUIMessageStream({
      stream: seen,
      ...(message !== undefined && { message }),
      onError: () => undefined,
    }))
      read = state;
    const kept = message === undefined ? this.#messages : this.#messages.slice(0, -1);
    this.#messages = read === undefined ? kept : [...kept, read];
    const parts = read?.parts ?? [];
    return {
      text: parts.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join(''),
      pieces: chunks.filter(({ type }) => type === 'text-delta').length,
      results: parts.flatMap(({ state, output }) =>
        state === 'output-available' ? [JSON.stringify(output)] : [],
      ),
      asked: parts.flatMap(({ state, toolCallId, toolName = '' }): readonly AskedCall[] => {
        if (toolCallId === undefined) return [];
        if (state === 'approval-requested')
          return [{ id: toolCallId, name: toolName, needs: 'approval' }];
        return state === 'input-available'
          ? [{ id: toolCallId, name: toolName, needs: 'result' }]
          : [];
      }),
      error: chunks.find(({ type }) => type === 'error')?.errorText,
      isCancelled: chunks.some(({ type }) => type === 'abort'),
      agents: parts.flatMap(({ type, data }) =>
        type === 'data-agent' && data?.status === 'done' ? [data.name] : [],
      ),
    };
  }
}
