/** A value of a placeholder. */
export type SqlValue = string | number | boolean | Buffer | null | readonly (string | number)[];

/** A statement with `?` for each of its values. */
export type SqlStatement = readonly [text: string, values?: readonly SqlValue[]];

/** Reads rows, each call on any free connection or in one transaction. */
export interface Reads {
  rows<T>(text: string, values?: readonly SqlValue[]): Promise<readonly T[]>;
  /** Sends statements in one message. Returns the rows of each. */
  several(statements: readonly SqlStatement[]): Promise<readonly (readonly unknown[])[]>;
}

/** An open transaction. */
export interface Transaction extends Reads {
  /** Queues a write. It is sent with the next statement that returns something, or with the commit. */
  add(text: string, values?: readonly SqlValue[]): void;
  /** Sends the queued writes if they are many. A loop over any number of items must call it: they are in memory. */
  limitPending(): Promise<void>;
  /** Queues a write that is sent with the commit. In it, `CHANGE_NUMBER` is the number of this transaction. */
  addNumbered(text: string, values?: readonly SqlValue[]): void;
}

/** The number of the transaction in the order of commits, in a statement of `addNumbered`. */
export const CHANGE_NUMBER = 'LAST_INSERT_ID()';

/** Placeholders for a list of tuples: `(?, ?), (?, ?)`. */
export function tuples(count: number, width: number): string {
  const tuple = `(${Array.from({ length: width }, () => '?').join(', ')})`;
  return Array.from({ length: count }, () => tuple).join(', ');
}
