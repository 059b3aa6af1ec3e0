/** What a listener knows about the connection of a request. */
export interface ConnectionInfo {
  /**
   * Resolves after the response was written: true if it reached the client, false if the connection broke before,
   * `unsure` if the connection closed right after.
   */
  readonly delivered?: Promise<boolean | 'unsure'>;
  /** Destroys the connection, even if a response was only partly written. */
  readonly destroyConnection?: () => void;
  /** IP address of the client. Callers without one share one limit for invalid keys. */
  readonly address?: string;
}
