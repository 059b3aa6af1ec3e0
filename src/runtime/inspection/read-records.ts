import { renameRecord } from '../../net/internal.ts';
import type { NamedNet } from '../../net/internal.ts';
import type { RecordSeq } from '../../net/index.ts';
import type { SessionRow, Store } from '../../store/index.ts';
import { inspectRecord } from './inspect-record.ts';
import type { InspectedRecord } from './inspected-record.ts';
import type { MarkingHistory } from './marking-history.ts';
import type { ValueDetail } from './value-detail.ts';

export interface ReadRecordsOptions {
  readonly store: Store;
  readonly history: MarkingHistory;
  readonly row: SessionRow;
  readonly net: NamedNet;
  readonly after: RecordSeq;
  readonly values: ValueDetail;
  readonly limit: number;
  /** Waits until the session may have more records. Returns false when there will be none. */
  readonly waitForMore: () => Promise<boolean>;
  readonly signal: AbortSignal | undefined;
}

/** Yields the records after `after` in order, each once. Every page of the store is read when it is needed. */
export async function* readRecords(
  options: ReadRecordsOptions,
): AsyncGenerator<InspectedRecord, void, undefined> {
  const { store, history, row, net, after, values, limit, waitForMore, signal } = options;
  const { marking, step: first } = await history.findStart(row, net, after);
  let step = first;
  let count = 0;
  do {
    for await (const { records, step: number } of store.steps(row.key, step)) {
      for (const record of records) {
        const inspected = inspectRecord(
          marking,
          renameRecord(record, marking, net),
          number,
          record.seq > after ? values : 'none',
        );
        if (record.seq <= after) continue;
        if (isAborted(signal)) return;
        yield inspected;
        if (++count >= limit) return;
      }
      step = number;
      history.keep(row, net, { step, marking });
    }
  } while (!isAborted(signal) && (await waitForMore()));
}

// A function, because TypeScript would narrow `signal.aborted` across a yield, which may change it.
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
