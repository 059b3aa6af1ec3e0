import type { EventProjection } from './event-projection.ts';

/** How many event ids are kept in memory, over all sessions. One takes about 100 bytes. */
const MAX_IDS = 200_000;

/**
 * Projections of recently read sessions, so that a reader who resumes by an event id does not cause a read of the whole
 * log. The least recently read projections are dropped when all together hold more than `maxIds` ids, or when there are
 * more than 1,000.
 */
export class EventProjectionCache {
  readonly #projections = new Map<string, EventProjection>();
  readonly #maxIds: number;

  constructor(maxIds: number = MAX_IDS) {
    this.#maxIds = maxIds;
  }

  get(sessionUid: string, create: () => EventProjection): EventProjection {
    const projection = this.#projections.get(sessionUid) ?? create();
    // Moves the projection to the end of the map: the first entry is the least recently read.
    this.#projections.delete(sessionUid);
    this.#projections.set(sessionUid, projection);
    this.#evict(sessionUid);
    return projection;
  }

  #evict(kept: string): void {
    let size = 0;
    for (const projection of this.#projections.values()) size += projection.size;
    for (const [uid, projection] of this.#projections) {
      if (size <= this.#maxIds && this.#projections.size <= MAX_PROJECTIONS) return;
      if (uid === kept) continue;
      size -= projection.size;
      this.#projections.delete(uid);
    }
  }
}

const MAX_PROJECTIONS = 1000;
