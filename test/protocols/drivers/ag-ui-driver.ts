import { randomUUID } from 'node:crypto';
import type { Answer, AskedCall, Conversation, DeclaredTool, ProtocolDriver } from '../driver.ts';

// The package is installed in test/protocols only, so its name is not written as an import.
const AG_UI = '@ag-ui/client';

interface AgUiMessage {
  readonly id: string;
  readonly role: string;
  readonly content?: string;
  readonly toolCallId?: string;
  readonly toolCalls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string };
  }[];
}

interface AgUiEvent {
  readonly type: string;
  readonly message?: string;
  readonly stepName?: string;
  readonly name?: string;
  readonly subagentRunId?: string;
  readonly outcome?: {
    readonly type: string;
    readonly pendingToolCallIds?: readonly string[];
    readonly interrupts?: readonly {
      readonly id: string;
      readonly reason: string;
      readonly metadata?: { readonly toolName?: string };
    }[];
  };
}

interface HttpAgent {
  readonly messages: AgUiMessage[];
  addMessage(message: AgUiMessage): void;
  abortRun(): void;
  runAgent(
    parameters: object,
    subscriber: { readonly onEvent: (received: { readonly event: AgUiEvent }) => void },
  ): Promise<unknown>;
}

interface AgUiModule {
  readonly HttpAgent: new (config: object) => HttpAgent;
}

/** The stock `HttpAgent` of AG-UI. */
export const agUiDriver: ProtocolDriver = {
  name: '@ag-ui/client',
  protocol: 'ag-ui',
  rules: {
    cancel:
      'AG-UI has no cancel request, and a lost connection stops nothing: the server has a route',
  },
  open: async ({ url, agentId, sessionId: threadId = randomUUID() }) => {
    const { HttpAgent } = (await import(AG_UI)) as AgUiModule;
    const runUrl = `${url}/ag-ui/${agentId}`;
    return new AgUiConversation(new HttpAgent({ url: runUrl, threadId }), threadId, runUrl);
  },
};

class AgUiConversation implements Conversation {
  readonly id: string;
  readonly #agent: HttpAgent;
  readonly #url: string;
  #tools: readonly DeclaredTool[] = [];

  constructor(agent: HttpAgent, id: string, url: string) {
    this.#agent = agent;
    this.id = id;
    this.#url = url;
  }

  async send(
    content: string,
    { tools = [], onPiece }: Parameters<Conversation['send']>[1] = {},
  ): Promise<Answer> {
    this.#tools = tools;
    this.#agent.addMessage({ id: randomUUID(), role: 'user', content });
    return this.#run({}, onPiece);
  }

  async approve({ id }: AskedCall, approved: boolean): Promise<Answer> {
    const entry = { interruptId: id, status: 'resolved', payload: { approved } };
    return this.#run({ resume: [entry] });
  }

  async answer({ id }: AskedCall, content: string): Promise<Answer> {
    this.#agent.addMessage({ id: randomUUID(), role: 'tool', toolCallId: id, content });
    return this.#run({});
  }

  async cancel(): Promise<void> {
    const response = await fetch(`${this.#url}/threads/${this.id}/cancel`, { method: 'POST' });
    if (!response.ok) throw new Error(await response.text());
  }

  disconnect(): void {
    this.#agent.abortRun();
  }

  async reconnect(): Promise<Answer> {
    return this.#run({});
  }

  async #run(parameters: object, onPiece?: () => void): Promise<Answer> {
    const events: AgUiEvent[] = [];
    const onEvent = ({ event }: { readonly event: AgUiEvent }): void => {
      events.push(event);
      if (event.type === 'TEXT_MESSAGE_CONTENT') onPiece?.();
    };
    await this.#agent
      .runAgent(
        { runId: randomUUID(), tools: this.#tools, ...parameters },
        {
          onEvent,
        },
      )
      .catch((error: unknown) => {
        if (!events.some(({ type }) => type === 'RUN_ERROR')) throw error;
      });
    const { messages } = this.#agent;
    const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
    const outcome = events.find(({ type }) => type === 'RUN_FINISHED')?.outcome;
    const names = new Map(
      turn.flatMap(({ toolCalls = [] }) => toolCalls.map((call) => [call.id, call.function.name])),
    );
    return {
      text: turn.map(({ role, content }) => (role === 'assistant' ? (content ?? '') : '')).join(''),
      pieces: events.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT').length,
      results: turn.flatMap(({ role, content }) => (role === 'tool' ? [content ?? ''] : [])),
      asked: [
        ...(outcome?.interrupts ?? []).map(({ id, reason, metadata }): AskedCall => ({
          id,
          name: metadata?.toolName ?? '',
          needs: reason === 'confirmation' ? 'approval' : 'result',
        })),
        ...(outcome?.pendingToolCallIds ?? []).map((id): AskedCall => ({
          id,
          name: names.get(id) ?? '',
          needs: 'result',
        })),
      ],
      error: events.find(({ type }) => type === 'RUN_ERROR')?.message,
      isCancelled: outcome?.type === 'cancelled',
      agents: listAgents(events),
    };
  }
}

/** The names of steps and sub-agents that began and ended. A node that is an agent is both. */
function listAgents(events: readonly AgUiEvent[]): readonly string[] {
  const names = events.flatMap(({ type, stepName, name = '', subagentRunId }) => {
    if (type === 'STEP_STARTED')
      return [{ name: stepName ?? '', end: `STEP_FINISHED ${stepName}` }];
    return type === 'SUBAGENT_STARTED' ? [{ name, end: `SUBAGENT_FINISHED ${subagentRunId}` }] : [];
  });
  const ends = new Set(
    events.map(({ type, stepName, subagentRunId }) =>
      type === 'STEP_FINISHED' ? `${type} ${stepName}` : `${type} ${subagentRunId}`,
    ),
  );
  return [...new Set(names.flatMap(({ name, end }) => (ends.has(end) ? [name] : [])))];
}
