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
  /**
   * Waits for results if many are missing. A loop over any number of items must call it: its statements and the packets
   * that are not sent yet are in memory, and a connection with many statements is slow. Rejects like `rows`.
   */
  limitPending(): Promise<void>;
}
