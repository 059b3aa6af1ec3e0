import {
  InvalidInputError,
  type FileDataPart,
  type InlineDataPart,
  type SessionKey,
  type TextPart,
} from '../core/index.ts';

/** What an artifact holds: text, bytes, or where they are. */
export type ArtifactPart = TextPart | InlineDataPart | FileDataPart;

/** Which artifact. `user:` before a name makes it the user's: every session of theirs sees the same one. */
export interface ArtifactKey {
  readonly session: SessionKey;
  readonly name: string;
}

/** Named files with versions, beside the journal, which only says that there are some. */
export interface ArtifactService {
  /**
   * Keeps a new version and tells its number: 0, 1, 2. With a `saveId` it was given before for this artifact it keeps
   * nothing and tells the number of then, so that a tool that runs again after a crash saves nothing twice.
   * @throws InvalidInputError for a name that `checkArtifactName` refuses
   */
  readonly save: (
    key: ArtifactKey,
    part: ArtifactPart,
    options: { readonly saveId: string },
  ) => Promise<number>;
  /** That version, the newest unless said; nothing when there is none. */
  readonly load: (key: ArtifactKey, version?: number) => Promise<ArtifactPart | undefined>;
  /** The names that a session sees, its user's with `user:` before them, sorted. */
  readonly list: (session: SessionKey) => Promise<readonly string[]>;
  /** The versions there are, oldest first. */
  readonly versions: (key: ArtifactKey) => Promise<readonly number[]>;
  /** Removes an artifact with all its versions, if it is there. */
  readonly delete: (key: ArtifactKey) => Promise<void>;
}

const MAX_NAME_LENGTH = 256;

/**
 * Accepts a name of an artifact, which may well become the name of a file somewhere.
 * @throws InvalidInputError
 */
export function checkArtifactName(name: string): void {
  const own = name.startsWith('user:') ? name.slice('user:'.length) : name;
  const problem =
    own === ''
      ? 'must not be empty.'
      : name.length > MAX_NAME_LENGTH
        ? `must be at most ${MAX_NAME_LENGTH} characters.`
        : /[/\\\p{Cc}]|\.\./u.test(own)
          ? 'must hold no path separator, no ".." and no control character.'
          : undefined;
  if (problem !== undefined) throw new InvalidInputError('artifact name', problem);
}
