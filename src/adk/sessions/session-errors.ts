import { PetrichorError } from '../../core/index.ts';

/**
 * The session was changed after this copy of it was read. Nothing was written.
 * @remedy Read the session again with `getSession`, then append to what it returns.
 */
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

/**
 * A session with this id already exists. Nothing was changed.
 * @remedy Read that session, or omit the id to get a new one.
 */
export class SessionExistsError extends PetrichorError {
  override readonly code = 'session_exists' as const;
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(
      `Session "${sessionId}" already exists: read it with getSession, or omit sessionId to get a new one.`,
    );
    this.sessionId = sessionId;
  }
}
