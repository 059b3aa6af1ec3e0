import { PetrichorError } from '../../core/index.ts';

/**
 * Another process has the session, and works on it: it has its live connection, or runs its turn. The media of a session
 * is in that process.
 * @remedy Begin the call in that process, or try again when its call is over.
 */
export class LiveSessionElsewhereError extends PetrichorError {
  override readonly code = 'live_session_elsewhere' as const;
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(
      `Another process has session "${sessionId}". Begin the call there, or try again when its call is over.`,
    );
    this.sessionId = sessionId;
  }
}
