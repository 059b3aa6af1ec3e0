import type { FileDataPart, InlineDataPart, SessionKey, TextPart } from '../../core/index.ts';

/** The content of an artifact: text, bytes, or a reference to bytes stored elsewhere. */
export type ArtifactPart = TextPart | InlineDataPart | FileDataPart;

/**
 * Identifies an artifact. The prefix `user:` in a name makes the artifact belong to the user: every
 * session of that user sees the same one.
 */
export interface ArtifactKey {
  readonly session: SessionKey;
  readonly name: string;
}

/** Metadata of one version of an artifact. */
export interface ArtifactVersion {
  readonly version: number;
  /**
   * The address of the version in its service, for people and other programs. `load` does not
   * accept it.
   */
  readonly canonicalUri: string;
  /** The type of the bytes; `text/plain` for text; absent for a reference. */
  readonly mimeType?: string;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly customMetadata: Readonly<Record<string, string>>;
}

/** Whose artifacts are counted: those of an app, or of one of its users. */
export interface ArtifactOwner {
  readonly appName: string;
  readonly userId?: string;
}

/** Makes a save idempotent and adds metadata to its version. */
export interface SaveArtifactOptions {
  /** The same for every attempt of one save. No other save of this artifact may use it. */
  readonly saveId: string;
  /** Stored with the version. At most 1,000 bytes as JSON. Default: `{}`. */
  readonly customMetadata?: Readonly<Record<string, string>>;
}

/**
 * Named files with versions. They are stored outside the journal; the journal records only that
 * they exist.
 */
export interface ArtifactService {
  /**
   * Stores a new version and returns its number: 0, 1, 2, … A `saveId` that was already used for
   * this artifact stores nothing and returns the number of the earlier save, so a tool that runs
   * again after a crash does not save twice.
   * @throws InvalidInputError for a name that `checkArtifactName` rejects, or more than 1,000 bytes
   *   of metadata
   */
  readonly save: (
    key: ArtifactKey,
    part: ArtifactPart,
    options: SaveArtifactOptions,
  ) => Promise<number>;
  /** Loads a version; `undefined` if it does not exist. Default: the newest. */
  readonly load: (key: ArtifactKey, version?: number) => Promise<ArtifactPart | undefined>;
  /**
   * The sorted names that a session sees, including those of its user, which start with `user:`.
   */
  readonly list: (session: SessionKey) => Promise<readonly string[]>;
  /** The numbers of the existing versions, oldest first. */
  readonly versions: (key: ArtifactKey) => Promise<readonly number[]>;
  /** The metadata of a version; `undefined` if it does not exist. Default: the newest. */
  readonly describe: (key: ArtifactKey, version?: number) => Promise<ArtifactVersion | undefined>;
  /** Removes an artifact with all its versions. Does nothing if it does not exist. */
  readonly delete: (key: ArtifactKey) => Promise<void>;
  /**
   * The bytes of all versions of the artifacts of an app or of one of its users. Without it, a quota of storage does not
   * count artifacts.
   */
  readonly countBytes?: (owner: ArtifactOwner) => Promise<number>;
}

/** The MIME type of a part; `undefined` for a reference. */
export function getMimeType(part: ArtifactPart): string | undefined {
  if ('inlineData' in part) return part.inlineData.mimeType;
  return 'text' in part ? 'text/plain' : undefined;
}

/** The bytes of a part; 0 for a reference, whose bytes are elsewhere. */
export function countPartBytes(part: ArtifactPart): number {
  if ('inlineData' in part) return Buffer.byteLength(part.inlineData.data, 'base64');
  return 'text' in part ? Buffer.byteLength(part.text) : 0;
}
