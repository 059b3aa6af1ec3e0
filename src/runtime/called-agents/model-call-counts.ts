import { formatSessionKey, rootSessionId } from '../../core/index.ts';
import type { InvocationId, LogEvent, SessionKey } from '../../core/index.ts';
import type { Store } from '../../store/index.ts';
import { repeatWhileUnavailable } from '../scheduling/repeat-while-unavailable.ts';

interface Count {
  readonly invocation: InvocationId;
  /** Number of calls so far. Pending while the logs are read. */
  made: Promise<number>;
}

/** Number of sessions with a cached count. The count of any other session is read from its logs. */
const MAX_CACHED = 10_000;

/**
 * Counts the model calls of running invocations, by root session. Calls of called agents count for the root session. A
 * count that is not cached, for example after a restart, is read from the logs.
 */
export class ModelCallCounts {
  readonly #store: Store;
  readonly #isOpen: () => boolean;
  readonly #counts = new Map<string, Count>();

  /** @param isOpen false when reading an unavailable store is not worth another attempt */
  constructor(store: Store, isOpen: () => boolean) {
    this.#store = store;
    this.#isOpen = isOpen;
  }

  /** Starts the count of a new invocation at 0. */
  begin(key: SessionKey, invocation: InvocationId): void {
    this.#cache(formatSessionKey(key), { invocation, made: Promise.resolve(0) });
  }

  /** Counts one more call for the root session of `key`. Returns the number of the call, from 1. */
  async next(key: SessionKey, invocation: InvocationId): Promise<number> {
    const root = { ...key, sessionId: rootSessionId(key.sessionId) };
    const name = formatSessionKey(root);
    const known = this.#counts.get(name);
    const count =
      known?.invocation === invocation
        ? known
        : { invocation, made: this.#readWhenAvailable(root, invocation) };
    // Chained, so that two calls never get the same number, even while the logs are read.
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

  async #readWhenAvailable(root: SessionKey, invocation: InvocationId): Promise<number> {
    const isOpen = this.#isOpen;
    return repeatWhileUnavailable(async () => this.#read(root, invocation), { isOpen });
  }

  async #read(root: SessionKey, invocation: InvocationId): Promise<number> {
    let made = 0;
    let startedAt = Infinity;
    for await (const event of this.#store.read(root, 0)) {
      if (!('invocationId' in event) || event.invocationId !== invocation) continue;
      if (event.type === 'turn.started') startedAt = Math.min(startedAt, event.at);
      if (isModelCall(event)) made++;
    }
    return made + (await countCalledModelCalls(this.#store, root, startedAt));
  }
}

/** The number of model calls of the agents that a session called since a time, directly or through other agents. */
export async function countCalledModelCalls(
  store: Store,
  { appName, userId, sessionId: parent }: SessionKey,
  since: number,
): Promise<number> {
  let made = 0;
  for (const { key, createdAt } of await store.list({ appName, userId, parent })) {
    if (createdAt < since) continue;
    for await (const event of store.read(key, 0)) if (isModelCall(event)) made++;
  }
  return made;
}

/** Each complete model message is one call, and so is each failed attempt before it. */
function isModelCall(event: LogEvent): boolean {
  return (
    event.type === 'model.attempt' ||
    (event.type === 'agent.message' && event.finishReason !== undefined)
  );
}
