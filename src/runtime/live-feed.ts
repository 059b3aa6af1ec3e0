import type { LogEvent, PartialEvent } from '../core/index.ts';

/** What a watcher of a session is told as it happens. `changed`: something was committed elsewhere; read the store. */
export type Live = LogEvent | PartialEvent | 'changed';

export type Watcher = (live: readonly Live[]) => void;

/** Tells the watchers of each session what was committed or shown, in order. Holds nothing itself. */
export class LiveFeed {
  readonly #watchers = new Map<string, Set<Watcher>>();

  /** Until the returned function is called. */
  watch(session: string, watcher: Watcher): () => void {
    const watchers = this.#watchers.get(session) ?? new Set();
    watchers.add(watcher);
    this.#watchers.set(session, watchers);
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#watchers.get(session) === watchers)
        this.#watchers.delete(session);
    };
  }

  tell(session: string, live: readonly Live[]): void {
    if (live.length === 0) return;
    for (const watcher of this.#watchers.get(session) ?? []) watcher(live);
  }

  tellAll(live: readonly Live[]): void {
    for (const session of this.#watchers.keys()) this.tell(session, live);
  }
}
