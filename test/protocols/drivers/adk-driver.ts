import { randomUUID } from 'node:crypto';
import type { Answer, AskedCall, Conversation, DeclaredTool, ProtocolDriver } from '../driver.ts';

// The package is installed in test/protocols only, so its name is not written as an import.
const DEVTOOLS = '@google/adk-devtools';

interface AdkPart {
  readonly text?: string;
  readonly thought?: boolean;
  readonly functionCall?: {
    readonly id: string;
    readonly name: string;
    readonly args: {
      readonly originalFunctionCall?: { readonly id: string; readonly name: string };
    };
  };
  readonly functionResponse?: {
    readonly id: string;
    readonly name: string;
    readonly response: object;
  };
}

interface AdkEvent {
  readonly author: string;
  readonly partial?: boolean;
  readonly errorMessage?: string;
  readonly content?: { readonly role: string; readonly parts: readonly AdkPart[] };
}

interface SessionName {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
}

interface DevtoolsModule {
  readonly AdkApiClient: new (options: { readonly backendUrl: string }) => {
    listApps(): Promise<readonly string[]>;
    createSession(session: SessionName): Promise<unknown>;
    getSession(session: SessionName): Promise<{ readonly events: readonly AdkEvent[] }>;
    runAsync(
      request: SessionName & { readonly newMessage: unknown; readonly streaming: boolean },
    ): AsyncIterable<AdkEvent>;
  };
}

type Client = InstanceType<DevtoolsModule['AdkApiClient']>;

const NO_CLIENT_TOOLS = 'ADK has no tools of clients: give the agent a long-running tool';
const NO_CANCEL = 'ADK has no cancel, and a lost connection stops nothing';

/** The stock `AdkApiClient` of ADK's developer tools. */
export const adkDriver: ProtocolDriver = {
  name: 'AdkApiClient',
  protocol: 'adk',
  rules: {
    'client tool': NO_CLIENT_TOOLS,
    cancel: NO_CANCEL,
    'lost connection': 'a run is not streamed again: the session is read',
    'sub-agents': 'events have the author and the branch: ADK has no events of starts and ends',
  },
  cannot: ['client tool', 'cancel', 'sub-agents'],
  open: async ({ url }) => {
    const { AdkApiClient } = (await import(DEVTOOLS)) as DevtoolsModule;
    const client = new AdkApiClient({ backendUrl: url });
    const [appName = ''] = await client.listApps();
    const session = { appName, userId: 'ada', sessionId: randomUUID() };
    await client.createSession(session);
    return new AdkConversation(client, session);
  },
};

class AdkConversation implements Conversation {
  readonly id: string;
  readonly #client: Client;
  readonly #session: SessionName;
  /** The events since the last message. */
  #events: readonly AdkEvent[] = [];

  constructor(client: Client, session: SessionName) {
    this.#client = client;
    this.#session = session;
    this.id = session.sessionId;
  }

  async send(
    text: string,
    {
      tools = [],
      onPiece,
    }: { readonly tools?: readonly DeclaredTool[]; readonly onPiece?: () => void } = {},
  ): Promise<Answer> {
    if (tools.length > 0) throw new Error(NO_CLIENT_TOOLS);
    this.#events = [];
    return this.#run(text, onPiece);
  }

  async approve({ id }: AskedCall, confirmed: boolean): Promise<Answer> {
    const functionResponse = { id, name: 'adk_request_confirmation', response: { confirmed } };
    return this.#run({ role: 'user', parts: [{ functionResponse }] });
  }

  async answer({ id, name }: AskedCall, result: string): Promise<Answer> {
    const functionResponse = { id, name, response: JSON.parse(result) as object };
    return this.#run({ role: 'user', parts: [{ functionResponse }] });
  }

  async cancel(): Promise<void> {
    return Promise.reject(new Error(NO_CANCEL));
  }

  async reconnect(): Promise<Answer> {
    const { events } = await this.#client.getSession(this.#session);
    const last = events.findLastIndex(
      ({ author, content }) =>
        author === 'user' && content?.parts.some(({ text }) => text !== undefined),
    );
    this.#events = events.slice(last + 1);
    return this.#toAnswer([]);
  }

  async #run(newMessage: unknown, onPiece?: () => void): Promise<Answer> {
    const added: AdkEvent[] = [];
    for await (const event of this.#client.runAsync({
      ...this.#session,
      newMessage,
      streaming: true,
    })) {
      added.push(event);
      if (event.partial === true) onPiece?.();
    }
    this.#events = [...this.#events, ...added];
    return this.#toAnswer(added);
  }

  #toAnswer(added: readonly AdkEvent[]): Answer {
    const whole = this.#events.filter(({ partial }) => partial !== true);
    const parts = whole.flatMap(({ content }) => content?.parts ?? []);
    const text = parts.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join('');
    const pieces = added
      .filter(({ partial }) => partial === true)
      .flatMap(({ content }) => content?.parts ?? [])
      .filter(({ thought }) => thought !== true);
    const streamed = pieces.map((part) => part.text ?? '').join('');
    if (pieces.length > 0 && !text.endsWith(streamed))
      throw new Error(`The pieces "${streamed}" are not the text "${text}".`);
    return {
      text,
      pieces: pieces.length,
      results: parts.flatMap(({ functionResponse }) =>
        functionResponse === undefined ? [] : [JSON.stringify(functionResponse.response)],
      ),
      asked: added
        .flatMap(({ content }) => content?.parts ?? [])
        .flatMap(({ functionCall }): readonly AskedCall[] =>
          functionCall?.name === 'adk_request_confirmation'
            ? [
                {
                  id: functionCall.id,
                  name: functionCall.args.originalFunctionCall?.name ?? '',
                  needs: 'approval',
                },
              ]
            : [],
        ),
      error: whole.find(({ errorMessage }) => errorMessage !== undefined)?.errorMessage,
      isCancelled: false,
    };
  }
}
