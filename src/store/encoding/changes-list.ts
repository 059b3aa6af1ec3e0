import type { JournalRecord } from '../../net/index.ts';

/**
 * True when a record changes a list place, begins a trimmed journal, or is an upgrade that moves places. Only such steps are
 * needed to rebuild lists.
 */
export function changesList(records: readonly JournalRecord[]): boolean {
  return records.some((record) => {
    if (record.kind === 'trimmed') return true;
    if (record.kind === 'upgraded') return record.moved !== undefined;
    return 'lists' in record && record.lists !== undefined && record.lists.length > 0;
  });
}
