import { PetrichorError } from '../../core/index.ts';
import type { SessionStatus } from '../../core/index.ts';

/**
 * The session's status does not allow this action. Nothing was changed.
 * @remedy Read the status. Resume a paused session first; start another session if it is archived or completed.
 */
export class IllegalTransitionError extends PetrichorError {
  override readonly code = 'illegal_transition' as const;
  readonly sessionId: string;
  readonly status: SessionStatus;
  readonly action: string;

  /** @param reason why, and what to do instead. Default: what the status allows. */
  constructor(sessionId: string, status: SessionStatus, action: string, reason?: string) {
    super(
      `Session "${sessionId}" is ${status}: ${action} is not possible. ${reason ?? nextStep(status)}`,
    );
    this.sessionId = sessionId;
    this.status = status;
    this.action = action;
  }
}

function nextStep(status: SessionStatus): string {
  switch (status) {
    case 'archived':
      return 'Its log can be read; start another session.';
    case 'completed':
      return 'It can be archived, read, or forked.';
    case 'paused':
      return 'Resume it first.';
    case 'failed':
      return 'Resume it, or send a message.';
    default:
      return 'Check its status and its log.';
  }
}
