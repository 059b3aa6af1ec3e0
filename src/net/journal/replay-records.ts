import { applyRecord } from './apply-record.ts';
import { copyMarking, emptyMarking } from './marking.ts';
import type { Marking } from './marking.ts';
import type { JournalRecord } from './record.ts';

/**
 * Returns the marking after the records, which must follow `from` without gaps. `from` is not changed.
 * Default of `from`: the empty marking, before record 1.
 * @throws Error if a record does not follow from the marking, which means that the journal is damaged.
 */
export function replayRecords(records: Iterable<JournalRecord>, from?: Marking): Marking {
  const marking = from === undefined ? emptyMarking() : copyMarking(from);
  for (const record of records) applyRecord(marking, record);
  return marking;
}
