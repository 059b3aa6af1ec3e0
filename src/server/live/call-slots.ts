import { HttpError } from '../http/http-error.ts';

/** A call that has a session. */
export interface LiveCallSlot {
  readonly keyId: string;
  /** False while it waits for a client that may come back: another client may then take its place. */
  readonly hasClient: boolean;
  /** Another client has the session now. */
  readonly replace: () => void;
}

/** The sessions that have a live call, whatever protocol its client speaks: one call per session, and so many per key. */
export class CallSlots {
  readonly #callsPerKey: number;
  /** By session. */
  readonly #slots = new Map<string, LiveCallSlot>();

  constructor(callsPerKey: number) {
    this.#callsPerKey = callsPerKey;
  }

  /**
   * Gives a session to a call, and replaces the call that had it. Returns a function that frees the session.
   * @throws HttpError 409 if another client has a call, unless `takeOver`; 429 above the limit of the key
   */
  take(
    { user, session }: { readonly user: string; readonly session: string },
    slot: LiveCallSlot,
    { takeOver }: { readonly takeOver: boolean },
  ): () => void {
    const name = JSON.stringify([user, session]);
    const former = this.#slots.get(name);
    if (former?.hasClient === true && !takeOver) throw busyError(session);
    this.#assertBelowLimit(slot.keyId, name);
    this.#slots.set(name, slot);
    former?.replace();
    return () => {
      if (this.#slots.get(name) === slot) this.#slots.delete(name);
    };
  }

  /** @throws HttpError 429 */
  #assertBelowLimit(keyId: string, name: string): void {
    const others = [...this.#slots].filter(
      ([session, slot]) => session !== name && slot.keyId === keyId,
    );
    if (others.length < this.#callsPerKey) return;
    throw new HttpError(
      429,
      `This key has ${others.length} live calls, and may have ${this.#callsPerKey}. End one, or raise limits.liveConnections.`,
      {
        details: {
          /**
           * The key has as many live calls as it may have.
           * @remedy End a call, or raise `limits.liveConnections` of the server.
           */
          error_code: 'too_many_live_calls',
        },
      },
    );
  }
}

function busyError(sessionId: string): HttpError {
  return new HttpError(
    409,
    `Session "${sessionId}" has a call with another client. Wait for its end, or send take_over: true to end it.`,
    {
      details: {
        /**
         * Another client has a live call of the session.
         * @remedy Wait for its end, or connect with `take_over: true`, which ends it.
         */
        error_code: 'live_session_busy',
      },
    },
  );
}
