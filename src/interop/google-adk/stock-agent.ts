import { omitUndefined } from '../../core/internal.ts';
import { createEvent, InMemorySessionService, Runner } from '@google/adk';
import type { BaseAgent as StockBaseAgent, Event as StockEvent } from '@google/adk';
import type { CustomContext } from '../../agents/index.ts';
import { PetrichorError } from '../../core/index.ts';
import type { Content } from '../../core/index.ts';
import { BaseAgent } from '../../adk/index.ts';
import type { AgentYield, BaseAgentConfig } from '../../adk/index.ts';
import { visibleParts } from './from-stock-content.ts';
import { toStockContent } from './to-stock-event.ts';

/**
 * A stock agent made a call that is answered from outside. That is not possible inside a Petrichor net.
 * @remedy Move the tool to a Petrichor agent, where a call can wait.
 */
export class StockAgentWaitsError extends PetrichorError {
  override readonly code = 'stock_agent_waits' as const;
  readonly agentName: string;

  constructor(agentName: string) {
    super(
      `The stock agent "${agentName}" made a call that is answered from outside. Move that tool to a Petrichor agent, where a call can wait.`,
    );
    this.agentName = agentName;
  }
}

/**
 * Runs an agent of stock `@google/adk` as a Petrichor agent, so that it can be a sub-agent. It
 * receives the conversation and the session's state; the last user message is its user content.
 * What it says and writes is committed before it continues. Its tool calls are not recorded. After
 * a crash it runs again from its beginning; what it already said is not repeated.
 */
export class StockAgent extends BaseAgent {
  readonly #stock: StockBaseAgent;

  constructor(stock: StockBaseAgent, config: Omit<BaseAgentConfig, 'name' | 'subAgents'> = {}) {
    super({ description: stock.description ?? '', ...config, name: stock.name });
    this.#stock = stock;
  }

  protected override async *runAsyncImpl(
    context: CustomContext,
  ): AsyncGenerator<AgentYield, void, never> {
    const { name: appName } = this.#stock;
    const { userId, sessionId } = context.sessionKey;
    const sessionService = new InMemorySessionService();
    const session = await sessionService.createSession({
      appName,
      userId,
      sessionId,
      state: { ...context.stateEntries },
    });
    const { before, message } = splitAtLastMessage(context.contents);
    for (const content of before)
      await sessionService.appendEvent({ session, event: toHistoryEvent(content, appName) });
    const runner = new Runner({ appName, agent: this.#stock, sessionService });
    const events = runner.runAsync({
      userId,
      sessionId,
      newMessage: toStockContent(message),
      abortSignal: context.signal,
    });
    for await (const event of events) {
      if (event.partial === true) continue;
      const output = this.#toYield(event);
      if (output !== undefined) yield output;
    }
  }

  #toYield(event: StockEvent): AgentYield | undefined {
    if ((event.longRunningToolIds ?? []).length > 0) throw new StockAgentWaitsError(this.name);
    if (event.errorCode !== undefined) throw new Error(event.errorMessage ?? event.errorCode);
    const parts = visibleParts(event.content);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- stock state that is not JSON is rejected when it is written
    const stateDelta = event.actions.stateDelta as Record<string, never>;
    // Transfers, agent ends and rewinds are internal to the stock agents.
    const { escalate, skipSummarization, artifactDelta } = event.actions;
    const actions = omitUndefined({
      stateDelta: Object.keys(stateDelta).length > 0 ? stateDelta : undefined,
      artifactDelta: Object.keys(artifactDelta).length > 0 ? artifactDelta : undefined,
      escalate: escalate === true ? escalate : undefined,
      skipSummarization: skipSummarization === true ? skipSummarization : undefined,
    });
    if (parts.length === 0 && Object.keys(actions).length === 0) return undefined;
    return {
      ...(parts.length > 0 && { content: { role: 'model', parts } }),
      actions,
    };
  }
}

/** The last user message, which is sent to the stock runner, and the contents before it. */
function splitAtLastMessage(contents: readonly Content[]): {
  readonly before: readonly Content[];
  readonly message: Content;
} {
  const last = contents.findLastIndex(({ role }) => role === 'user');
  const message = contents[last] ?? { role: 'user', parts: [] };
  return { before: contents.filter((_, index) => index !== last), message };
}

function toHistoryEvent(content: Content, agentName: string): StockEvent {
  return createEvent({
    invocationId: 'before',
    author: content.role === 'user' ? 'user' : agentName,
    content: toStockContent(content),
  });
}
