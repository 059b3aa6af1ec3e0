/** Bytes with what is said of them. */
export interface StoredObject {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** JSON text, at most 2 KB in base64. */
  readonly about: string;
}

/** Where objects are kept under paths whose parts are parted by `/`. What is there is never changed, only removed. */
export interface ObjectStore {
  /** Whole or not at all, and readable by everyone when it resolves. False when there is one already: that one stays. */
  create(path: string, object: StoredObject): Promise<boolean>;
  read(path: string): Promise<StoredObject | undefined>;
  /** What is said of the object at a path. */
  about(path: string): Promise<string | undefined>;
  /** The parts that come next after a folder, in no order. */
  list(folder: string): Promise<readonly string[]>;
  /** Removes everything under a folder. */
  remove(folder: string): Promise<void>;
  getUri(path: string): string;
}
