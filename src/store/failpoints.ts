/** Hooks with which a test can make a store fail, by throwing. */
export interface Failpoints {
  /**
   * Called before a transaction is committed. If it throws, the transaction is rolled back and the callers get the
   * error.
   */
  readonly beforeCommit?: () => void;
  /** Called when a transaction is durable, before its result is returned. */
  readonly afterCommit?: () => void;
}
