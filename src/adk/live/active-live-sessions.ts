import { PetrichorError } from '../../core/index.ts';
import type { FiringId } from '../../core/index.ts';
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

/** The live sessions of a process, by the uid of the session. */
class ActiveLiveSessions {
  readonly #sessions = new Map<string, ActiveLiveSession>();

  /** The live session of the session to which a firing belongs. */
  find(firingId: FiringId): ActiveLiveSession | undefined {
    return this.#sessions.get(firingId.slice(0, Math.max(0, firingId.lastIndexOf('/'))));
  }

  /** @throws LiveSessionBusyError if the session has one */
  add(uid: string, sessionId: string, session: ActiveLiveSession): void {
    if (this.#sessions.has(uid)) throw new LiveSessionBusyError(sessionId);
    this.#sessions.set(uid, session);
  }

  remove(uid: string): void {
    this.#sessions.delete(uid);
  }
}

/** A tool finds its live session here, whether `runLive` or a socket of the server runs it: uids are unique. */
export const activeLiveSessions: ActiveLiveSessions = new ActiveLiveSessions();
