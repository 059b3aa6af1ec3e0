import type { LogEvent, PartialEvent } from '../../core/index.ts';

/** A live event of a session. `changed`: another process committed something, so read the store. */
export type BroadcastEvent = LogEvent | PartialEvent | 'changed';

export type Subscriber = (live: readonly BroadcastEvent[]) => void;

/** Publishes committed events and partials of each session to its subscribers, in order. Keeps no events. */
export class SessionBroadcast {
  readonly #subscribers = new Map<string, Set<Subscriber>>();

  /** Returns the function that unsubscribes. */
  subscribe(session: string, subscriber: Subscriber): () => void {
    const subscribers = this.#subscribers.get(session) ?? new Set();
    subscribers.add(subscriber);
    this.#subscribers.set(session, subscribers);
    return () => {
      subscribers.delete(subscriber);
      if (subscribers.size === 0 && this.#subscribers.get(session) === subscribers)
        this.#subscribers.delete(session);
    };
  }

  /** The sessions that have subscribers. */
  get sessions(): readonly string[] {
    return [...this.#subscribers.keys()];
  }

  publish(session: string, live: readonly BroadcastEvent[]): void {
    if (live.length === 0) return;
    for (const subscriber of this.#subscribers.get(session) ?? []) subscriber(live);
  }

  publishAll(live: readonly BroadcastEvent[]): void {
    for (const session of this.#subscribers.keys()) this.publish(session, live);
  }
}
