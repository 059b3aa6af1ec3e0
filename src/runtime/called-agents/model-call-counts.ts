import { formatSessionKey, rootSessionId } from '../../core/index.ts';
import type { InvocationId, LogEvent, SessionKey } from '../../core/index.ts';
import type { Store } from '../../store/index.ts';

interface Count {
  readonly invocation: InvocationId;
  /** Calls made so far; a promise while the logs are read. */
  made: Promise<number>;
}

/** So many sessions are remembered; the count of another one is read from its logs again. */
const MAX_CACHED = 10_000;

/**
 * How many model calls the invocations under way have made, by the session that was sent the message: agents that it
 * calls count with it. A count that is not at hand, because the process is a new one, is read from the logs.
 */
export class ModelCallCounts {
  readonly #store: Store;
  readonly #counts = new Map<string, Count>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** An invocation begins here: it has made no call yet. */
  begin(key: SessionKey, invocation: InvocationId): void {
    this.#cache(formatSessionKey(key), { invocation, made: Promise.resolve(0) });
  }

  /** Counts one more call of the invocation that `key`, or the session it works for, was sent. Returns its number. */
  async next(key: SessionKey, invocation: InvocationId): Promise<number> {
    const root = { ...key, sessionId: rootSessionId(key.sessionId) };
    const name = formatSessionKey(root);
    const known = this.#counts.get(name);
    const count =
      known?.invocation === invocation ? known : { invocation, made: this.#read(root, invocation) };
    // One after the other, also while the logs are read: two calls never get the same number.
    count.made = count.made.then((made) => made + 1);
    this.#cache(name, count);
    try {
      return await count.made;
    } catch (error) {
      if (this.#counts.get(name) === count) this.#counts.delete(name);
      throw error;
    }
  }

  #cache(name: string, count: Count): void {
    this.#counts.delete(name);
    this.#counts.set(name, count);
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > MAX_CACHED && oldest !== undefined) this.#counts.delete(oldest);
  }

  async #read(root: SessionKey, invocation: InvocationId): Promise<number> {
    let made = 0;
    let startedAt = Infinity;
    for await (const event of this.#store.read(root, 0)) {
      if (!('invocationId' in event) || event.invocationId !== invocation) continue;
      if (event.type === 'turn.started') startedAt = Math.min(startedAt, event.at);
      if (isModelCall(event)) made++;
    }
    const { appName, userId, sessionId: parent } = root;
    for (const { key, createdAt } of await this.#store.list({ appName, userId, parent })) {
      if (createdAt < startedAt) continue;
      for await (const event of this.#store.read(key, 0)) if (isModelCall(event)) made++;
    }
    return made;
  }
}

/** An answer is one call; an attempt that an answer came after, or will come after, is one more. */
function isModelCall(event: LogEvent): boolean {
  return (
    event.type === 'model.attempt' ||
    (event.type === 'agent.message' && event.finishReason !== undefined)
  );
}
