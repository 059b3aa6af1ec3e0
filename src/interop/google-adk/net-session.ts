import { StreamingMode } from '@google/adk';
import type { Event as StockEvent, InvocationContext } from '@google/adk';
import { contentText, validateStateKey } from '../../core/index.ts';
import type { Content, Event, Json, JsonObject, Part, SessionKey } from '../../core/index.ts';
import type { RunConfig, RunParams } from '../../adk/index.ts';
import { fromStockContent, visibleParts } from './from-stock-content.ts';
import type { RegisteredSession } from './session-registry.ts';
import type { Lease, SharedRunners } from './shared-runners.ts';
import { toStockEvent } from './to-stock-event.ts';

/** The net of one stock session, through all its turns. */
export class NetSession implements RegisteredSession {
  readonly #runners: SharedRunners;
  readonly #lease: Lease;
  readonly #key: SessionKey;
  readonly #agentName: string;
  /** The names under which it speaks in the stock session. */
  readonly #ownNames: ReadonlySet<string>;
  /** What the stock session holds is known to it: it said so itself, or was told. */
  #knowsHistory: boolean;
  /** State of the stock session as it was last told, encoded. */
  readonly #knownState = new Map<string, string>();
  /** Invocations whose messages stand behind a turn that waits for someone, the oldest first. */
  #queuedInvocations: readonly string[] = [];
  readonly #closing = new AbortController();

  /** @param names of the agent and all agents below it, the agent's own first */
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

  /** One turn: it hears what was said since its last one, and says its part. Leaving it stops the turn. */
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
        // Before the events are let go: whoever gives them hears it no more then.
        if (!continues) stop.abort();
      }
      if (!continues) return;
    }
  }

  /** The events of a message; then of those that were kept while a turn waited, when their turns have come. */
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
      // Its turn may have begun before it was looked at: what it said is in its session.
      const session = await runner.sessionService.getSession({
        ...sessionIds,
        appName: runner.appName,
      });
      for (const event of session?.events ?? [])
        if (event.invocationId === next && event.author !== 'user') yield event;
    }
  }

  /** Ends it: what runs is stopped, and what only it remembers is gone. */
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
   * What was said since its own last words: by others as they are quoted, then by the user. A net that has no memory of a
   * session is told all of it.
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
      .filter(({ author, invocationId: of }) => author !== 'user' || of !== invocationId)
      .flatMap(quoteEvent);
    // In a loop it has heard the user already: then what others said is the news.
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

  /** What it wrote, the stock session is about to know from its event. */
  #recordWrites({ actions }: Event): void {
    for (const [key, value] of Object.entries(actions.stateDelta))
      this.#knownState.set(key, JSON.stringify(value));
  }

  /** An event that only tells the net's own log what the stock session knows: nothing said, nothing new. */
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

/** The message is kept until a turn that waits for someone is over. */
function isQueued({ customMetadata }: Event): boolean {
  return customMetadata?.['queuedBehind'] !== undefined;
}

function toRunConfig({ runConfig }: InvocationContext): RunConfig {
  const { maxLlmCalls, streamingMode } = runConfig ?? {};
  return {
    ...(maxLlmCalls !== undefined && { maxLlmCalls }),
    ...(streamingMode === StreamingMode.SSE && { streamingMode: 'sse' }),
  };
}

/** Peers of a parallel branch are not heard. */
function isVisible({ partial, branch: of }: StockEvent, branch: string | undefined): boolean {
  if (partial === true) return false;
  return of === undefined || branch === undefined || branch === of || branch.startsWith(`${of}.`);
}

function quoteEvent({ author = 'someone', content }: StockEvent): readonly Part[] {
  const parts = visibleParts(content);
  const text = contentText({ role: 'model', parts });
  const files = parts.filter((part) => !('text' in part));
  return [...(text === '' ? [] : [{ text: `[${author}] said: ${text}` }]), ...files];
}

/** Stock ADK takes any text for a key. */
function isStateKey(key: string): boolean {
  try {
    validateStateKey(key);
    return true;
  } catch {
    return false;
  }
}

/** A value of stock state as JSON; others cannot be told. */
function encodeJson(value: unknown): { readonly text: string; readonly value: Json } | undefined {
  try {
    const text = JSON.stringify(value);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse gives nothing else
    return text === undefined ? undefined : { text, value: JSON.parse(text) as Json };
  } catch {
    return undefined;
  }
}
