import type { LogEvent, SessionKey } from '../../core/index.ts';
import type { JournalRecord } from '../../net/index.ts';

/** The journal records and log events of one committed step. */
export interface CommittedRecords {
  readonly key: SessionKey;
  readonly step: number;
  readonly records: readonly JournalRecord[];
  readonly events: readonly LogEvent[];
}

/** Called with every committed step of the sessions that the runtime owns, after the step is durable. */
export type Observer = (committed: CommittedRecords) => void;

/**
 * Passes each step to every observer, in order. Errors go to `onError`; the remaining observers and the session
 * continue.
 */
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

/** Creates an observer that writes one line for each journal record: session id, record number, kind and transition. */
export function loggingObserver(write: (line: string) => void): Observer {
  return ({ key, records }) => {
    for (const record of records) {
      const description = 't' in record ? `${record.kind} ${record.t}` : record.kind;
      write(`${key.sessionId} #${record.seq} ${description}`);
    }
  };
}

/** Creates an observer that collects the committed steps in memory, for tests. */
export function recordingObserver(): {
  readonly observe: Observer;
  readonly committed: readonly CommittedRecords[];
} {
  const committed: CommittedRecords[] = [];
  return { committed, observe: (step) => committed.push(step) };
}
