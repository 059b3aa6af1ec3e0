import type { RecordSeq } from '../journal/record.ts';

/** What the host provides to an executor. */
export interface ExecutorOptions {
  /** Returns the public id of a firing. It must be the same after a restart. */
  readonly toFiringId: (firing: RecordSeq) => string;
  /** Called for each firing that was taken, reset, timed out or ended otherwise while an attempt may still run. */
  readonly onAbort?: (firing: RecordSeq) => void;
  /** Context passed unchanged to every `run`. It must stay constant for the lifetime of the net. */
  readonly host?: unknown;
}
