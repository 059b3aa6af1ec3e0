/** Places where a test may stop a store, by throwing. */
export interface Failpoints {
  /** Before a transaction is committed: what it throws undoes the transaction and is what the callers get. */
  readonly beforeCommit?: () => void;
  /** When a transaction is durable and nobody has heard of it. */
  readonly afterCommit?: () => void;
}
