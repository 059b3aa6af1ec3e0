import type { UncommittedState } from '../../agents/vocabulary/agent-host.ts';
import type { SessionWrite } from '../../agents/vocabulary/state.ts';
import { applyWrites } from '../../agents/state/state-writes.ts';
import type { Json, JsonObject } from '../../core/index.ts';

interface PendingWrite {
  readonly firingId: string;
  readonly write: SessionWrite;
}

/**
 * What firings of a session have ended with that is not in its marking yet, in the order they ended. It only foretells:
 * each write says what it was made of, and is judged by that when it is persisted.
 */
export class PendingWrites implements UncommittedState {
  readonly #state: () => JsonObject;
  readonly #isInFlight: (firingId: string) => boolean;
  #pending: readonly PendingWrite[] = [];

  /** @param state the session's state as its marking has it now */
  constructor(state: () => JsonObject, isInFlight: (firingId: string) => boolean) {
    this.#state = state;
    this.#isInFlight = isInFlight;
  }

  readonly getValue: UncommittedState['getValue'] = (key): Json | undefined => {
    this.#pruneEnded();
    return this.#pending.reduce((state, { write }) => applyWrites(state, write), this.#state())[
      key
    ];
  };

  readonly addWrite: UncommittedState['addWrite'] = (firingId, write) => {
    this.#pruneEnded();
    this.#pending = [...this.#pending, { firingId, write }];
  };

  /** What has left its firing is in the state, or is not to be. */
  #pruneEnded(): void {
    this.#pending = this.#pending.filter(({ firingId }) => this.#isInFlight(firingId));
  }
}
