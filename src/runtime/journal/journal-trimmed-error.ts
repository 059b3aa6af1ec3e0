import { formatSessionKey, PetrichorError } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';

/**
 * The records that are needed were removed: a retention policy trimmed the journal of the session. Nothing was changed.
 * @remedy Use a later position: the message names the first one. Or fetch the session from a backup or an archive that is
 * older than the trim.
 */
export class JournalTrimmedError extends PetrichorError {
  override readonly code = 'journal_trimmed' as const;
  /** The first position that is possible: a record, an event, or an invocation. Undefined: there is none yet. */
  readonly first: number | string | undefined;

  /** @param position what was asked for, with its number or id */
  constructor(key: SessionKey, position: string, first: number | string | undefined) {
    super(
      `The journal of session "${formatSessionKey(key)}" was trimmed: it does not have ${position} any more. ${
        first === undefined
          ? 'Nothing after the removed records can be used yet.'
          : `The first one that can be used is ${first}.`
      }`,
    );
    this.first = first;
  }
}
