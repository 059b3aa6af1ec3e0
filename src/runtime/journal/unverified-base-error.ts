import { formatSessionKey, PetrichorError } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import type { StepNumber } from '../../store/index.ts';

/**
 * The journal of a session was not trimmed, because the marking that it would begin with does not lead to the marking that
 * the session has. Nothing was changed.
 * @remedy Export the session, and report the error: its journal or its snapshot is damaged.
 */
export class UnverifiedBaseError extends PetrichorError {
  override readonly code = 'unverified_base' as const;
  readonly key: SessionKey;

  constructor(key: SessionKey, step: StepNumber) {
    super(
      `The journal of session "${formatSessionKey(key)}" was not trimmed to step ${step}: the marking after that step does not lead to the stored one. Export the session, and report this error.`,
    );
    this.key = key;
  }
}
