import type { SessionWrite, UncommittedState } from '../../agents/internal.ts';
import { applyWrites, readOwn } from '../../core/internal.ts';
import type { Json, JsonObject } from '../../core/index.ts';

interface PendingWrite {
  readonly firingId: string;
  readonly write: SessionWrite;
}

/**
 * State writes of finished firings that are not in the marking yet, in the order the firings finished. The values are a
 * prediction: each write names the versions it was based on, and the net checks them when it persists the write.
 */
export class PendingWrites implements UncommittedState {
  readonly #state: () => JsonObject;
  readonly #isInFlight: (firingId: string) => boolean;
  #pending: readonly PendingWrite[] = [];

  /**
   * @param state reads the session's state from its current marking
   * @param isInFlight true while a firing is in the marking
   */
  constructor(state: () => JsonObject, isInFlight: (firingId: string) => boolean) {
    this.#state = state;
    this.#isInFlight = isInFlight;
  }

  readonly getValue: UncommittedState['getValue'] = (key): Json | undefined => {
    this.#pruneEnded();
    const state = this.#pending.reduce(
      (before, { write }) => applyWrites(before, write.writes),
      this.#state(),
    );
    return readOwn(state, key);
  };

  readonly addWrite: UncommittedState['addWrite'] = (firingId, write) => {
    this.#pruneEnded();
    this.#pending = [...this.#pending, { firingId, write }];
  };

  /** Removes the writes of firings that have ended: they are in the state, or were rejected. */
  #pruneEnded(): void {
    this.#pending = this.#pending.filter(({ firingId }) => this.#isInFlight(firingId));
  }
}
