import type { WireFace } from './wire-face.ts';

/** How many ids of events are kept in memory, over all sessions: some 100 bytes each. */
const MAX_IDS = 200_000;

/**
 * The faces of the sessions that were read last, so that a reader who resumes by an id does not have the whole log read
 * again. The least recently read ones are dropped when they hold more than `maxIds` ids together.
 */
export class WireFaces {
  readonly #faces = new Map<string, WireFace>();
  readonly #maxIds: number;

  constructor(maxIds: number = MAX_IDS) {
    this.#maxIds = maxIds;
  }

  get(sessionUid: string, create: () => WireFace): WireFace {
    const face = this.#faces.get(sessionUid) ?? create();
    // The last in the map is the one that was read last.
    this.#faces.delete(sessionUid);
    this.#faces.set(sessionUid, face);
    this.#drop(sessionUid);
    return face;
  }

  #drop(kept: string): void {
    let size = 0;
    for (const face of this.#faces.values()) size += face.size;
    for (const [uid, face] of this.#faces) {
      if (size <= this.#maxIds && this.#faces.size <= MAX_FACES) return;
      if (uid === kept) continue;
      size -= face.size;
      this.#faces.delete(uid);
    }
  }
}

const MAX_FACES = 1000;
