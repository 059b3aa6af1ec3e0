import { StreamingMode } from '@google/adk';
import type { Event as StockEvent, InvocationContext } from '@google/adk';
import { textOf, validateStateKey } from '../../core/index.ts';
import type { Content, Event, Json, JsonObject, Part, SessionKey } from '../../core/index.ts';
import type { RunConfig, RunParams } from '../../runner/index.ts';
import { fromStockContent, shownParts } from './from-stock-content.ts';
import type { SessionRunner } from './session-registry.ts';
import type { Lease, SharedRunners } from './shared-runners.ts';
import { toStockEvent } from './to-stock-event.ts';

/** The net of one stock session, through all its turns. */
export class NetSession implements SessionRunner {
  readonly #runners: SharedRunners;
  readonly #lease: Lease;
  readonly #key: SessionKey;
  readonly #agentName: string;
  /** The names under which it speaks in the stock session. */
  readonly #own: ReadonlySet<string>;
  /** What the stock session holds is known to it: it said so itself, or was told. */
  #knowsHistory: boolean;
  /** State of the stock session as it was last told, encoded. */
  readonly #told = new Map<string, string>();
  /** Invocations whose messages stand behind a turn that waits for someone, the oldest first. */
  #queued: readonly string[] = [];
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
    this.#own = new Set(names);
    this.#knowsHistory = !lease.isTransient;
  }

  isOf(runners: SharedRunners): boolean {
    return this.#runners === runners;
  }

  /** One turn: it hears what was said since its last one, and says its part. Leaving it stops the turn. */
  async *turn(context: InvocationContext): AsyncGenerator<StockEvent, void, void> {
    const newMessage = this.#messageOf(context);
    if (newMessage === undefined) return;
    const { invocationId, branch, abortSignal } = context;
    const left = new AbortController();
    const events = this.#eventsOf({
      newMessage,
      stateDelta: this.#news(context.session.state),
      runConfig: runConfigOf(context),
      abortSignal: AbortSignal.any([
        left.signal,
        this.#closing.signal,
        ...(abortSignal === undefined ? [] : [abortSignal]),
      ]),
    });
    for await (const event of events) {
      if (this.#isEcho(event)) continue;
      this.#keep(event);
      let goesOn = false;
      try {
        yield toStockEvent(event, { invocationId, branch, agentName: this.#agentName });
        goesOn = !context.endInvocation;
      } finally {
        // Before the events are let go: whoever gives them hears it no more then.
        if (!goesOn) left.abort();
      }
      if (!goesOn) return;
    }
  }

  /** The events of a message; then of those that were kept while a turn waited, when their turns have come. */
  async *#eventsOf(
    params: Omit<RunParams, 'userId' | 'sessionId'>,
  ): AsyncGenerator<Event, void, void> {
    const { runner } = this.#lease;
    const { userId, sessionId } = this.#key;
    const here = { userId, sessionId };
    for await (const event of runner.runAsync({ ...here, ...params })) {
      if (isQueued(event)) this.#queued = [...this.#queued, event.invocationId];
      yield event;
      if (isQueued(event)) return;
    }
    const { abortSignal } = params;
    for (let [next] = this.#queued; next !== undefined; [next] = this.#queued) {
      const signal = abortSignal !== undefined && { abortSignal };
      const rest = await runner.run({ ...here, invocationId: next, ...signal });
      if (rest.some(isQueued)) return;
      this.#queued = this.#queued.slice(1);
      // Its turn may have begun before it was looked at: what it said is in its session.
      const session = await runner.sessionService.getSession({ ...here, appName: runner.appName });
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
  #messageOf({
    session,
    userContent,
    invocationId,
    branch,
  }: InvocationContext): Content | undefined {
    if (userContent === undefined) return undefined;
    const asked = fromStockContent(userContent, 'user');
    if (asked.parts.some((part) => 'functionResponse' in part)) return asked;
    const last = session.events.findLastIndex(({ author = '' }) => this.#own.has(author));
    const from = this.#knowsHistory ? last + 1 : 0;
    this.#knowsHistory = true;
    const heard = session.events
      .slice(from)
      .filter((event) => isHeard(event, branch))
      .filter(({ author, invocationId: of }) => author !== 'user' || of !== invocationId)
      .flatMap(quoted);
    // In a loop it has heard the user already: then what others said is the news.
    const isRepeated = session.events[last]?.invocationId === invocationId;
    return {
      role: 'user',
      parts: isRepeated && heard.length > 0 ? heard : [...heard, ...asked.parts],
    };
  }

  #news(state: Readonly<Record<string, unknown>>): JsonObject {
    const news: Record<string, Json> = {};
    for (const [key, value] of Object.entries(state)) {
      const encoded = isStateKey(key) ? jsonOf(value) : undefined;
      if (encoded === undefined || this.#told.get(key) === encoded.text) continue;
      this.#told.set(key, encoded.text);
      news[key] = encoded.value;
    }
    return news;
  }

  /** What it wrote, the stock session is about to know from its event. */
  #keep({ actions }: Event): void {
    for (const [key, value] of Object.entries(actions.stateDelta))
      this.#told.set(key, JSON.stringify(value));
  }

  /** An event that only tells the net's own log what the stock session knows: nothing said, nothing new. */
  #isEcho({ author, content, errorCode, actions }: Event): boolean {
    return (
      (author === 'user' || author === 'system') &&
      content === undefined &&
      errorCode === undefined &&
      Object.entries(actions.stateDelta).every(
        ([key, value]) => this.#told.get(key) === JSON.stringify(value),
      )
    );
  }
}

/** The message is kept until a turn that waits for someone is over. */
function isQueued({ customMetadata }: Event): boolean {
  return customMetadata?.['queuedBehind'] !== undefined;
}

function runConfigOf({ runConfig }: InvocationContext): RunConfig {
  const { maxLlmCalls, streamingMode } = runConfig ?? {};
  return {
    ...(maxLlmCalls !== undefined && { maxLlmCalls }),
    ...(streamingMode === StreamingMode.SSE && { streamingMode: 'sse' }),
  };
}

/** Peers of a parallel branch are not heard. */
function isHeard({ partial, branch: of }: StockEvent, branch: string | undefined): boolean {
  if (partial === true) return false;
  return of === undefined || branch === undefined || branch === of || branch.startsWith(`${of}.`);
}

function quoted({ author = 'someone', content }: StockEvent): readonly Part[] {
  const parts = shownParts(content);
  const words = textOf({ role: 'model', parts });
  const files = parts.filter((part) => !('text' in part));
  return [...(words === '' ? [] : [{ text: `[${author}] said: ${words}` }]), ...files];
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
function jsonOf(value: unknown): { readonly text: string; readonly value: Json } | undefined {
  try {
    const text = JSON.stringify(value);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse gives nothing else
    return text === undefined ? undefined : { text, value: JSON.parse(text) as Json };
  } catch {
    return undefined;
  }
}
