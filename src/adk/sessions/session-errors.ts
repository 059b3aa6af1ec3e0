import { PetrichorError } from '../../core/index.ts';

/** The session has gone on since this copy of it was read. Nothing was written: read it again, then append. */
export class StaleSessionError extends PetrichorError {
  override readonly code = 'stale_session' as const;
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(
      `Session "${sessionId}" has been modified in storage since it was loaded: call getSession again, and append to what it returns.`,
    );
    this.sessionId = sessionId;
  }
}

/** There is a session of this id. Nothing was changed: leave the id out to get a new one, or read that session. */
export class SessionExistsError extends PetrichorError {
  override readonly code = 'session_exists' as const;
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(
      `There is a session "${sessionId}" already: read it with getSession, or leave out sessionId to get a new one.`,
    );
    this.sessionId = sessionId;
  }
}
