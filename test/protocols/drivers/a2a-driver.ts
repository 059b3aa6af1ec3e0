import { randomUUID } from 'node:crypto';
import type { Answer, AskedCall, Conversation, DeclaredTool, ProtocolDriver } from '../driver.ts';

// The package is installed in test/protocols only, so its name is not written as an import.
const A2A_CLIENT = '@a2a-js/sdk/client';

const LOSES_APPEND =
  'the client loses append of the chunks of 0.3 over REST: those of an artifact belong together';
const CLIENT_TOOLS = 'urn:petrichor:a2a:client-tools:v1';
const [COMPLETED, FAILED, CANCELED, INPUT_REQUIRED] = [3, 4, 5, 6];
const ROLE_USER = 1;

interface A2aPart {
  readonly content?: { readonly $case: string; readonly value: unknown };
}

interface A2aMessage {
  readonly parts: readonly A2aPart[];
}

interface A2aStatus {
  readonly state: number;
  readonly message?: A2aMessage;
}

interface A2aArtifact {
  readonly artifactId: string;
  readonly parts: readonly A2aPart[];
}

interface A2aTask {
  readonly id: string;
  readonly contextId: string;
  readonly status?: A2aStatus;
  readonly artifacts: readonly A2aArtifact[];
  readonly history: readonly A2aMessage[];
}

interface A2aEvent {
  readonly payload?:
    | { readonly $case: 'task'; readonly value: A2aTask }
    | { readonly $case: 'statusUpdate'; readonly value: { readonly status?: A2aStatus } }
    | {
        readonly $case: 'artifactUpdate';
        readonly value: { readonly artifact?: A2aArtifact; readonly append: boolean };
      };
}

/** The methods of the stock client that tests use. */
export interface A2aClient {
  sendMessage(request: object): Promise<A2aTask>;
  sendMessageStream(request: object): AsyncGenerator<A2aEvent>;
  getTask(request: object): Promise<A2aTask>;
  listTasks(request: object): Promise<{ readonly tasks: readonly A2aTask[] }>;
  cancelTask(request: object): Promise<A2aTask>;
  resubscribeTask(request: object): AsyncGenerator<A2aEvent>;
}

interface A2aModule {
  readonly ClientFactory: new (options: object) => {
    createFromUrl(url: string): Promise<A2aClient>;
    createFromAgentCard(card: object): Promise<A2aClient>;
  };
  readonly DefaultAgentCardResolver: new (options: object) => {
    resolve(url: string): Promise<{ readonly supportedInterfaces: readonly object[] }>;
  };
  readonly JsonRpcTransportFactory: new (options: object) => object;
  readonly RestTransportFactory: new (options: object) => object;
}

/** Opens the stock client over one transport of the agent's card. */
export async function openA2aClient(
  agentUrl: string,
  binding: string,
  version = '1.0',
): Promise<A2aClient> {
  const sdk = (await import(A2A_CLIENT)) as A2aModule;
  const legacyCompat = { enabled: true };
  const cardResolver = new sdk.DefaultAgentCardResolver({ legacyCompat });
  const card = await cardResolver.resolve(`${agentUrl}/`);
  const supportedInterfaces = card.supportedInterfaces.filter(
    (one) =>
      Reflect.get(one, 'protocolBinding') === binding &&
      Reflect.get(one, 'protocolVersion') === version,
  );
  const factory = new sdk.ClientFactory({
    transports: [
      new sdk.JsonRpcTransportFactory({ legacyCompat }),
      new sdk.RestTransportFactory({ legacyCompat }),
    ],
    cardResolver,
  });
  return factory.createFromAgentCard({ ...card, supportedInterfaces });
}

function createA2aDriver(name: string, binding: string, version: string): ProtocolDriver {
  const losesAppend = binding === 'HTTP+JSON' && version === '0.3';
  return {
    name,
    protocol: 'a2a',
    rules: {
      'two parallel tools': 'A2A has no tool calls: they are data parts of status messages',
      'client tool': 'an extension of the server: A2A has no tools of clients',
      'approval, yes and no': 'INPUT_REQUIRED, and a data part of ours: A2A has no approvals',
      'lost connection': 'a task that has ended is read with GetTask',
      ...(losesAppend && { 'streamed text': LOSES_APPEND }),
      'sub-agents': 'data parts of status messages: A2A has no sub-agents',
    },
    open: async ({ url, agentId, sessionId }) =>
      new A2aConversation(
        await openA2aClient(`${url}/a2a/${agentId}`, binding, version),
        sessionId,
        losesAppend,
      ),
  };
}

/** The stock client, over its transports. */
export const a2aDrivers: readonly ProtocolDriver[] = [
  createA2aDriver('@a2a-js/sdk, JSON-RPC', 'JSONRPC', '1.0'),
  createA2aDriver('@a2a-js/sdk, REST', 'HTTP+JSON', '1.0'),
  createA2aDriver('@a2a-js/sdk, 0.3', 'JSONRPC', '0.3'),
  createA2aDriver('@a2a-js/sdk, 0.3 REST', 'HTTP+JSON', '0.3'),
];

class A2aConversation implements Conversation {
  readonly id: string;
  readonly #client: A2aClient;
  /** Whether the client does not know which chunks continue an artifact. */
  readonly #losesAppend: boolean;
  #message: object = {};
  #taskId = '';
  #state = 0;
  #status: A2aMessage | undefined;
  readonly #texts = new Map<string, string>();
  #results: string[] = [];
  #agents: { readonly type: string; readonly name: string }[] = [];

  constructor(client: A2aClient, id: string = randomUUID(), losesAppend = false) {
    this.#client = client;
    this.#losesAppend = losesAppend;
    this.id = id;
  }

  async send(
    text: string,
    { tools = [], onPiece }: Parameters<Conversation['send']>[1] = {},
  ): Promise<Answer> {
    this.#taskId = '';
    this.#texts.clear();
    this.#results = [];
    this.#agents = [];
    this.#message = {
      messageId: randomUUID(),
      parts: [toText(text)],
      metadata: toToolMetadata(tools),
    };
    return this.#run(this.#message, onPiece);
  }

  async approve({ id: callId }: AskedCall, approved: boolean): Promise<Answer> {
    return this.#run({ taskId: this.#taskId, parts: [toData({ callId, approved })] });
  }

  async answer({ id: callId }: AskedCall, result: string): Promise<Answer> {
    const data = { callId, result: JSON.parse(result) as unknown };
    return this.#run({ taskId: this.#taskId, parts: [toData(data)] });
  }

  async cancel(): Promise<void> {
    await this.#client.cancelTask({ id: this.#taskId, tenant: '', metadata: undefined });
  }

  async reconnect(): Promise<Answer> {
    // The message again, if the connection was lost before the task was known.
    if (this.#taskId === '') return this.#run(this.#message);
    const params = { id: this.#taskId, tenant: '' };
    let task = await this.#client.getTask(params);
    while (![COMPLETED, FAILED, CANCELED, INPUT_REQUIRED].includes(task.status?.state ?? 0)) {
      await this.#followStream(params);
      task = await this.#client.getTask(params);
    }
    this.#texts.clear();
    this.#results = [];
    this.#agents = [];
    for (const { parts } of task.history) this.#addResults(parts);
    for (const { artifactId, parts } of task.artifacts) this.#texts.set(artifactId, toPlain(parts));
    this.#setStatus(task.status);
    return this.#toAnswer(0);
  }

  /** Reads the stream of a task to its end. A task that has ended meanwhile has none. */
  async #followStream(params: object): Promise<void> {
    try {
      for await (const _ of this.#client.resubscribeTask(params));
    } catch (error) {
      if (!/has ended/.test(String(error))) throw error;
    }
  }

  async #run(message: object, onPiece?: () => void): Promise<Answer> {
    const request = {
      tenant: '',
      metadata: undefined,
      configuration: undefined,
      message: {
        messageId: randomUUID(),
        contextId: this.id,
        taskId: '',
        role: ROLE_USER,
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
        ...message,
      },
    };
    let pieces = 0;
    for await (const { payload } of this.#client.sendMessageStream(request)) {
      if (payload?.$case === 'task') {
        this.#taskId = payload.value.id;
        this.#setStatus(payload.value.status);
      } else if (payload?.$case === 'statusUpdate') {
        this.#setStatus(payload.value.status);
        this.#addResults(payload.value.status?.message?.parts ?? []);
      } else if (payload?.value.artifact !== undefined) {
        const { artifactId, parts } = payload.value.artifact;
        const text = toPlain(parts);
        const isAppended = this.#losesAppend || payload.value.append;
        const before = isAppended ? (this.#texts.get(artifactId) ?? '') : '';
        this.#texts.set(artifactId, before + text);
        if (text === '') continue;
        pieces++;
        onPiece?.();
      }
    }
    return this.#toAnswer(pieces);
  }

  #setStatus(status: A2aStatus | undefined): void {
    if (status === undefined) return;
    this.#state = status.state;
    this.#status = status.message;
  }

  #addResults(parts: readonly A2aPart[]): void {
    for (const { value } of listData(parts)) {
      const { type, name } = value;
      if (type === 'tool_result') this.#results.push(JSON.stringify(value['response']));
      if (/^(agent|node)_(started|ended)$/.test(String(type)))
        this.#agents.push({ type: String(type), name: String(name) });
    }
  }

  #toAnswer(pieces: number): Answer {
    const parts = this.#status?.parts ?? [];
    const calls = listData(parts).flatMap(({ value }) =>
      value['type'] === 'waits'
        ? (value['calls'] as readonly { callId: string; name: string; needs: 'approval' }[])
        : [],
    );
    const isWaiting = this.#state === INPUT_REQUIRED;
    if (![COMPLETED, FAILED, CANCELED, INPUT_REQUIRED].includes(this.#state))
      throw new Error(`The stream ended in the state ${this.#state}.`);
    return {
      text: [...this.#texts.values()].join(''),
      pieces,
      results: this.#results,
      asked: isWaiting ? calls.map(({ callId, name, needs }) => ({ id: callId, name, needs })) : [],
      error: this.#state === FAILED ? toPlain(parts) : undefined,
      isCancelled: this.#state === CANCELED,
      agents: this.#agents.flatMap(({ type, name }) => {
        const end = type.replace('started', 'ended');
        const hasEnded = this.#agents.some((one) => one.type === end && one.name === name);
        return type !== end && hasEnded ? [name] : [];
      }),
    };
  }
}

function toText(text: string): object {
  return {
    content: { $case: 'text', value: text },
    filename: '',
    mediaType: '',
    metadata: undefined,
  };
}

function toData(data: object): object {
  return { ...toText(''), content: { $case: 'data', value: data } };
}

function toToolMetadata(tools: readonly DeclaredTool[]): object | undefined {
  return tools.length === 0 ? undefined : { [CLIENT_TOOLS]: { tools } };
}

function toPlain(parts: readonly A2aPart[]): string {
  return parts
    .map(({ content }) => (content?.$case === 'text' ? String(content.value) : ''))
    .join('');
}

function listData(
  parts: readonly A2aPart[],
): readonly { readonly value: Readonly<Record<string, unknown>> }[] {
  return parts.flatMap(({ content }) =>
    content?.$case === 'data' ? [{ value: content.value as Record<string, unknown> }] : [],
  );
}
