import { omitUndefined } from '../../core/internal.ts';
import { StreamingMode } from '@google/adk';
import type { Event as StockEvent, InvocationContext } from '@google/adk';
import { contentText, validateStateKey } from '../../core/index.ts';
import type { Content, Event, Json, JsonObject, Part, SessionKey } from '../../core/index.ts';
import type { RunConfig, RunParams } from '../../adk/index.ts';
import { fromStockContent, visibleParts } from './from-stock-content.ts';
import type { RegisteredSession } from './session-registry.ts';
import type { Lease, SharedRunners } from './shared-runners.ts';
import { toStockEvent } from './to-stock-event.ts';

/** The net of one stock session, across all its turns. */
export class NetSession implements RegisteredSession {
  readonly #runners: SharedRunners;
  readonly #lease: Lease;
  readonly #key: SessionKey;
  readonly #agentName: string;
  /** The author names of this agent and its sub-agents in the stock session. */
  readonly #ownNames: ReadonlySet<string>;
  /** Whether the net already knows the history of the stock session. */
  #knowsHistory: boolean;
  /** By key: the encoded value of the stock session's state that the net knows. */
  readonly #knownState = new Map<string, string>();
  /** Invocations whose messages are queued behind a waiting turn, oldest first. */
  #queuedInvocations: readonly string[] = [];
  readonly #closing = new AbortController();

  /**
   * Opens the net of a session.
   * @param names the name of the agent, followed by those of all its sub-agents
   */
  static async open(
    runners: SharedRunners,
    key: SessionKey,
    names: readonly string[],
  ): Promise<NetSession> {
    return new NetSession(runners, key, names);
  }

  private constructor(runners: SharedRunners, key: SessionKey, names: readonly string[]) {
    const lease = runners.lease(key.appName);
    const [agentName = ''] = names;
    this.#runners = runners;
    this.#lease = lease;
    this.#key = key;
    this.#agentName = agentName;
    this.#ownNames = new Set(names);
    this.#knowsHistory = !lease.isTransient;
  }

  usesRunners(runners: SharedRunners): boolean {
    return this.#runners === runners;
  }

  /**
   * Runs one turn: passes on what was said since the last turn, and yields the events of the agent.
   * Leaving the generator stops the turn.
   */
  async *turn(context: InvocationContext): AsyncGenerator<StockEvent, void, void> {
    const newMessage = this.#buildMessage(context);
    if (newMessage === undefined) return;
    const { invocationId, branch, abortSignal } = context;
    const stop = new AbortController();
    const events = this.#runMessage({
      newMessage,
      stateDelta: this.#stateChanges(context.session.state),
      runConfig: toRunConfig(context),
      abortSignal: AbortSignal.any([
        stop.signal,
        this.#closing.signal,
        ...(abortSignal === undefined ? [] : [abortSignal]),
      ]),
    });
    for await (const event of events) {
      if (this.#isEcho(event)) continue;
      this.#recordWrites(event);
      let continues = false;
      try {
        yield toStockEvent(event, { invocationId, branch, agentName: this.#agentName });
        continues = !context.endInvocation;
      } finally {
        // Abort before returning from the generator: afterwards, no event reaches it any more.
        if (!continues) stop.abort();
      }
      if (!continues) return;
    }
  }

  /** Runs a message and yields its events; then those of queued messages whose turns have come. */
  async *#runMessage(
    params: Omit<RunParams, 'userId' | 'sessionId'>,
  ): AsyncGenerator<Event, void, void> {
    const { runner } = this.#lease;
    const { userId, sessionId } = this.#key;
    const sessionIds = { userId, sessionId };
    for await (const event of runner.runAsync({ ...sessionIds, ...params })) {
      if (isQueued(event))
        this.#queuedInvocations = [...this.#queuedInvocations, event.invocationId];
      yield event;
      if (isQueued(event)) return;
    }
    const { abortSignal } = params;
    for (
      let [next] = this.#queuedInvocations;
      next !== undefined;
      [next] = this.#queuedInvocations
    ) {
      const signal = abortSignal !== undefined && { abortSignal };
      const rest = await runner.run({ ...sessionIds, invocationId: next, ...signal });
      if (rest.some(isQueued)) return;
      this.#queuedInvocations = this.#queuedInvocations.slice(1);
      // The turn may have begun before this call, so its events are read from the session.
      const session = await runner.sessionService.getSession({
        ...sessionIds,
        appName: runner.appName,
      });
      for (const event of session?.events ?? [])
        if (event.invocationId === next && event.author !== 'user') yield event;
    }
  }

  /** Ends the net: stops a running turn, and deletes its session if that is transient. */
  async close(): Promise<void> {
    this.#closing.abort();
    const { runner, isTransient } = this.#lease;
    try {
      if (isTransient)
        await runner.sessionService.deleteSession({ ...this.#key, appName: runner.appName });
    } finally {
      await this.#lease.release();
    }
  }

  /**
   * Builds the message of a turn from what was said since the agent's last event: quotes of other
   * agents, then the user's message. A net without a stored history gets the whole history.
   */
  #buildMessage({
    session,
    userContent,
    invocationId,
    branch,
  }: InvocationContext): Content | undefined {
    if (userContent === undefined) return undefined;
    const userMessage = fromStockContent(userContent, 'user');
    if (userMessage.parts.some((part) => 'functionResponse' in part)) return userMessage;
    const last = session.events.findLastIndex(({ author = '' }) => this.#ownNames.has(author));
    const from = this.#knowsHistory ? last + 1 : 0;
    this.#knowsHistory = true;
    const otherParts = session.events
      .slice(from)
      .filter((event) => isVisible(event, branch))
      .filter((event) => event.author !== 'user' || event.invocationId !== invocationId)
      .flatMap(quoteEvent);
    // In a loop, the agent already has the user's message; only what other agents said is new.
    const isRepeated = session.events[last]?.invocationId === invocationId;
    return {
      role: 'user',
      parts:
        isRepeated && otherParts.length > 0 ? otherParts : [...otherParts, ...userMessage.parts],
    };
  }

  #stateChanges(state: Readonly<Record<string, unknown>>): JsonObject {
    const changes: Record<string, Json> = {};
    for (const [key, value] of Object.entries(state)) {
      const encoded = isStateKey(key) ? encodeJson(value) : undefined;
      if (encoded === undefined || this.#knownState.get(key) === encoded.text) continue;
      this.#knownState.set(key, encoded.text);
      changes[key] = encoded.value;
    }
    return changes;
  }

  /** Records the agent's writes: the stock session learns them from the yielded event. */
  #recordWrites({ actions }: Event): void {
    for (const [key, value] of Object.entries(actions.stateDelta))
      this.#knownState.set(key, JSON.stringify(value));
  }

  /** True for an event that only repeats in the net's log what the stock session already knows. */
  #isEcho({ author, content, errorCode, actions }: Event): boolean {
    return (
      (author === 'user' || author === 'system') &&
      content === undefined &&
      errorCode === undefined &&
      Object.entries(actions.stateDelta).every(
        ([key, value]) => this.#knownState.get(key) === JSON.stringify(value),
      )
    );
  }
}

/** True if the message waits until a waiting turn is over. */
function isQueued({ customMetadata }: Event): boolean {
  return customMetadata?.['queuedBehind'] !== undefined;
}

function toRunConfig({ runConfig }: InvocationContext): RunConfig {
  const { maxLlmCalls, streamingMode } = runConfig ?? {};
  return omitUndefined({
    maxLlmCalls,
    streamingMode: streamingMode === StreamingMode.SSE ? 'sse' : undefined,
  });
}

/** Events of parallel branches are not visible. */
function isVisible(
  { partial, branch: eventBranch }: StockEvent,
  branch: string | undefined,
): boolean {
  if (partial === true) return false;
  return (
    eventBranch === undefined ||
    branch === undefined ||
    branch === eventBranch ||
    branch.startsWith(`${eventBranch}.`)
  );
}

function quoteEvent({ author = 'someone', content }: StockEvent): readonly Part[] {
  const parts = visibleParts(content);
  const text = contentText({ role: 'model', parts });
  const files = parts.filter((part) => !('text' in part));
  return [...(text === '' ? [] : [{ text: `[${author}] said: ${text}` }]), ...files];
}

/** Whether a key is valid here. Stock ADK accepts any string. */
function isStateKey(key: string): boolean {
  try {
    validateStateKey(key);
    return true;
  } catch {
    return false;
  }
}

/** A value of stock state as JSON; undefined for a value that JSON cannot hold. */
function encodeJson(value: unknown): { readonly text: string; readonly value: Json } | undefined {
  try {
    const text = JSON.stringify(value);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse returns JSON
    return text === undefined ? undefined : { text, value: JSON.parse(text) as Json };
  } catch {
    return undefined;
  }
}
