import type { EventProjection } from './event-projection.ts';

/** How many event ids are kept in memory, over all sessions. One takes about 100 bytes. */
const MAX_IDS = 200_000;

/**
 * Projections of recently read sessions, so that a reader who resumes by an event id does not cause a read of the whole
 * log. The least recently read projections are dropped when all together hold more than `maxIds` ids, or when there are
 * more than 1,000.
 */
export class EventProjectionCache {
  /** By the uid and the key of their session. */
  readonly #projections = new Map<string, EventProjection>();
  readonly #maxIds: number;

  constructor(maxIds: number = MAX_IDS) {
    this.#maxIds = maxIds;
  }

  get(session: string, create: () => EventProjection): EventProjection {
    const projection = this.#projections.get(session) ?? create();
    // Moves the projection to the end of the map: the first entry is the least recently read.
    this.#projections.delete(session);
    this.#projections.set(session, projection);
    this.#evict(session);
    return projection;
  }

  #evict(kept: string): void {
    let size = 0;
    for (const projection of this.#projections.values()) size += projection.size;
    for (const [session, projection] of this.#projections) {
      if (size <= this.#maxIds && this.#projections.size <= MAX_PROJECTIONS) return;
      if (session === kept) continue;
      size -= projection.size;
      this.#projections.delete(session);
    }
  }
}

const MAX_PROJECTIONS = 1000;
