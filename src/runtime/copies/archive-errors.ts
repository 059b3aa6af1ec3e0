import { formatSessionKey, PetrichorError } from '../../core/index.ts';
import type { PetrichorErrorOptions, SessionKey } from '../../core/index.ts';

/**
 * The folder or bucket of an archive cannot be reached, or refuses access. A session that was to be archived stays in its
 * store.
 * @remedy Check the name of the bucket, its region and endpoint, and the credentials. Then try again.
 */
export class ArchiveUnavailableError extends PetrichorError {
  override readonly code = 'archive_unavailable' as const;
  /** Where the archive was asked. */
  readonly uri: string;

  constructor(uri: string, problem: string) {
    super(
      `The archive could not be used at ${uri}: ${problem}. Check its name, region, endpoint and credentials, and try again.`,
    );
    this.uri = uri;
  }
}

/**
 * The copy of a session that was read back from the archive is not the one that was written. The session stays in its
 * store.
 * @remedy Remove the copy from the archive, and apply the policy again.
 */
export class DamagedArchiveError extends PetrichorError {
  override readonly code = 'damaged_archive' as const;
  /** Where the copy is. */
  readonly uri: string;

  constructor(uri: string, problem: string, options?: PetrichorErrorOptions) {
    super(
      `The archived copy at ${uri} ${problem}. The session was not deleted. Remove the copy, and apply the policy again.`,
      options,
    );
    this.uri = uri;
  }
}

/**
 * The archive has no copy of the session.
 * @remedy List the archived sessions with `petrichor archived`, and correct the id, the user or the app.
 */
export class SessionNotArchivedError extends PetrichorError {
  override readonly code = 'session_not_archived' as const;

  constructor(key: SessionKey, location: string) {
    super(
      `There is no copy of session "${formatSessionKey(key)}" in the archive at ${location}. \`petrichor archived\` lists the archived sessions.`,
    );
  }
}
