/** Bytes with their content type and metadata. */
export interface StoredObject {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** Metadata as JSON text, at most 2 KB in base64. */
  readonly about: string;
}

/**
 * Stores immutable objects under paths with `/` as separator. Objects are created and removed,
 * never changed.
 */
export interface ObjectStore {
  /**
   * Creates an object atomically. Every reader sees it once the promise resolves. Returns false and
   * changes nothing if the path is taken.
   */
  create(path: string, object: StoredObject): Promise<boolean>;
  read(path: string): Promise<StoredObject | undefined>;
  /** The metadata of the object at a path. */
  about(path: string): Promise<string | undefined>;
  /** The names directly below a folder, in any order. An empty path is the root. */
  list(folder: string): Promise<readonly string[]>;
  /** The bytes of every object below a folder, with or without those of the metadata. */
  countBytes(folder: string): Promise<number>;
  /** Removes every object below a folder. */
  remove(folder: string): Promise<void>;
  getUri(path: string): string;
}
