import type { LogEvent, SessionKey } from '../../core/index.ts';
import type { JournalRecord } from '../../net/index.ts';

/** What a step committed. */
export interface CommittedRecords {
  readonly key: SessionKey;
  readonly step: number;
  readonly records: readonly JournalRecord[];
  readonly events: readonly LogEvent[];
}

/** Sees every committed step of the sessions this runtime owns, after it is durable and never before. It cannot change anything. */
export type Observer = (committed: CommittedRecords) => void;

/** Passes each step to every observer, in order. One that throws does not keep it from the others, nor stop the session. */
export function chainObservers(
  observers: readonly Observer[],
  onError: (error: unknown) => void,
): Observer {
  return (committed) => {
    for (const observe of observers) {
      try {
        observe(committed);
      } catch (error) {
        onError(error);
      }
    }
  };
}

/** Writes a line for each firing: session, record, transition. */
export function loggingObserver(write: (line: string) => void): Observer {
  return ({ key, records }) => {
    for (const record of records) {
      const what = 't' in record ? `${record.kind} ${record.t}` : record.kind;
      write(`${key.sessionId} #${record.seq} ${what}`);
    }
  };
}

/** Keeps what it sees. */
export function recordingObserver(): {
  readonly observe: Observer;
  readonly committed: readonly CommittedRecords[];
} {
  const committed: CommittedRecords[] = [];
  return { committed, observe: (step) => committed.push(step) };
}
