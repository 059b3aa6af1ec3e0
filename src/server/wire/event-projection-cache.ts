import type { EventProjection } from './event-projection.ts';

/** How many ids of events are kept in memory, over all sessions: some 100 bytes each. */
const MAX_IDS = 200_000;

/**
 * The faces of the sessions that were read last, so that a reader who resumes by an id does not have the whole log read
 * again. The least recently read ones are dropped when they hold more than `maxIds` ids together.
 */
export class EventProjectionCache {
  readonly #projections = new Map<string, EventProjection>();
  readonly #maxIds: number;

  constructor(maxIds: number = MAX_IDS) {
    this.#maxIds = maxIds;
  }

  get(sessionUid: string, create: () => EventProjection): EventProjection {
    const projection = this.#projections.get(sessionUid) ?? create();
    // The last in the map is the one that was read last.
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
