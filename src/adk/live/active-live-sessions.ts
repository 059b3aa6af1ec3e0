import { formatSessionKey, PetrichorError } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import type { ActiveLiveSession } from './active-live-session.ts';

/**
 * The session has a live session already. A session has one connection and one reader.
 * @remedy Close the queue of the other live session, or wait until it ends.
 */
export class LiveSessionBusyError extends PetrichorError {
  override readonly code = 'live_session_busy' as const;
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(
      `Session "${sessionId}" has a live session already. Close its queue, or wait until it ends.`,
    );
    this.sessionId = sessionId;
  }
}

/** The live sessions of a process, by session. */
export class ActiveLiveSessions {
  readonly #sessions = new Map<string, ActiveLiveSession>();

  find(key: SessionKey): ActiveLiveSession | undefined {
    return this.#sessions.get(formatSessionKey(key));
  }

  /** @throws LiveSessionBusyError if the session has one */
  add(key: SessionKey, session: ActiveLiveSession): void {
    const name = formatSessionKey(key);
    if (this.#sessions.has(name)) throw new LiveSessionBusyError(key.sessionId);
    this.#sessions.set(name, session);
  }

  remove(key: SessionKey): void {
    this.#sessions.delete(formatSessionKey(key));
  }
}
