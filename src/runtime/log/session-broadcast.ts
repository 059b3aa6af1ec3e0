import type { LogEvent, PartialEvent } from '../../core/index.ts';

/** What a watcher of a session is told as it happens. `changed`: something was committed elsewhere; read the store. */
export type BroadcastEvent = LogEvent | PartialEvent | 'changed';

export type Subscriber = (live: readonly BroadcastEvent[]) => void;

/** Tells the watchers of each session what was committed or shown, in order. Holds nothing itself. */
export class SessionBroadcast {
  readonly #subscribers = new Map<string, Set<Subscriber>>();

  /** Until the returned function is called. */
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

  publish(session: string, live: readonly BroadcastEvent[]): void {
    if (live.length === 0) return;
    for (const watcher of this.#subscribers.get(session) ?? []) watcher(live);
  }

  publishAll(live: readonly BroadcastEvent[]): void {
    for (const session of this.#subscribers.keys()) this.publish(session, live);
  }
}
