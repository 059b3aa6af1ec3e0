/** Runs statements: in a transaction, or on any free connection. */
export interface Queries {
  rows<T>(text: string, values?: readonly unknown[]): Promise<readonly T[]>;
  /** Runs one or several statements without parameters. */
  exec(text: string): Promise<void>;
}

/** Runs the statements of an open transaction. */
export interface WriteQueries extends Queries {
  /**
   * Sends a statement without waiting for its result, in one packet with the statements that follow at once. If it fails,
   * the next `rows` rejects with its error, or the transaction does.
   */
  add(text: string, values?: readonly unknown[]): void;
}
