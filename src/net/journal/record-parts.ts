/** The number of a journal record within its session. Numbers start at 1 and have no gaps. */
export type RecordSeq = number;

/** The id of a token: `<record seq>.<index among the tokens that this record added>`. */
export type TokenId = string;

/** The time from which each timed transition may take a token, by transition name, in epoch milliseconds. */
export type Due = Readonly<Record<string, number>>;

/** The version of the net that a session's tokens belong to. */
export interface NetVersion {
  readonly hash: string;
  /** The declared schema versions, by place. */
  readonly versions: Readonly<Record<string, number>>;
}
