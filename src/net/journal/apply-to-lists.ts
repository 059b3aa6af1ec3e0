import { applyListChange } from './list-state.ts';
import type { ListState } from './list-state.ts';
import { moveEntries } from './move-places.ts';
import type { JournalRecord } from './record.ts';
import { restoreEncodedLists } from './restore-marking.ts';

/** Applies what a record changes in list places. The records of lists alone are enough to restore the lists. */
export function applyToLists(lists: Map<string, ListState>, record: JournalRecord): void {
  switch (record.kind) {
    case 'fired':
    case 'ended':
      for (const change of record.lists ?? []) applyListChange(lists, record.seq, change);
      break;
    case 'trimmed':
      restoreEncodedLists(lists, record.marking);
      break;
    case 'upgraded':
      if (record.moved !== undefined) moveEntries(lists, record.moved);
      break;
    case 'injected':
    case 'started':
    case 'retrying':
    case 'restarted':
    case 'faulted':
    case 'discarded':
    case 'owned':
    case 'loaded':
      break;
    default:
      record satisfies never;
  }
}
