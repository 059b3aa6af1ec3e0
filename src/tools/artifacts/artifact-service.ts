import {
  InvalidInputError,
  type FileDataPart,
  type InlineDataPart,
  type SessionKey,
  type TextPart,
} from '../../core/index.ts';

/** What an artifact holds: text, bytes, or where they are. */
export type ArtifactPart = TextPart | InlineDataPart | FileDataPart;

/** Which artifact. `user:` before a name makes it the user's: every session of theirs sees the same one. */
export interface ArtifactKey {
  readonly session: SessionKey;
  readonly name: string;
}

/** What is known of one version. */
export interface ArtifactVersion {
  readonly version: number;
  /** Where it is, as its service names things: for people and other programs, not for `load`. */
  readonly canonicalUri: string;
  /** Of bytes; `text/plain` for text, nothing for what only says where bytes are. */
  readonly mimeType?: string;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly customMetadata: Readonly<Record<string, string>>;
}

/** What makes a save the same save when it is tried again, and what is kept beside its version. */
export interface SaveArtifactOptions {
  /** The same at each try of one save, and of no other for this artifact. */
  readonly saveId: string;
  /** Kept beside the version; at most 1,000 bytes as JSON. */
  readonly customMetadata?: Readonly<Record<string, string>>;
}

/** Named files with versions, beside the journal, which only says that there are some. */
export interface ArtifactService {
  /**
   * Keeps a new version and tells its number: 0, 1, 2. With a `saveId` it was given before for this artifact it keeps
   * nothing and tells the number of then, so that a tool that runs again after a crash saves nothing twice.
   * @throws InvalidInputError for a name that `checkArtifactName` refuses, or too much metadata
   */
  readonly save: (
    key: ArtifactKey,
    part: ArtifactPart,
    options: SaveArtifactOptions,
  ) => Promise<number>;
  /** That version, the newest unless said; nothing when there is none. */
  readonly load: (key: ArtifactKey, version?: number) => Promise<ArtifactPart | undefined>;
  /** The names that a session sees, its user's with `user:` before them, sorted. */
  readonly list: (session: SessionKey) => Promise<readonly string[]>;
  /** The versions there are, oldest first. */
  readonly versions: (key: ArtifactKey) => Promise<readonly number[]>;
  /** What is known of that version, the newest unless said; nothing when there is none. */
  readonly describe: (key: ArtifactKey, version?: number) => Promise<ArtifactVersion | undefined>;
  /** Removes an artifact with all its versions, if it is there. */
  readonly delete: (key: ArtifactKey) => Promise<void>;
}

const MAX_NAME_LENGTH = 256;
const MAX_METADATA_BYTES = 1000;

/** @throws InvalidInputError */
export function checkCustomMetadata(metadata: Readonly<Record<string, string>>): void {
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  if (bytes > MAX_METADATA_BYTES)
    throw new InvalidInputError(
      'customMetadata',
      `must be at most ${MAX_METADATA_BYTES} bytes as JSON; it has ${bytes}.`,
    );
}

/** The type of what a part holds. */
export function getMimeType(part: ArtifactPart): string | undefined {
  if ('inlineData' in part) return part.inlineData.mimeType;
  return 'text' in part ? 'text/plain' : undefined;
}

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
