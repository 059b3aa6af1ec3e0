import type { JournalRecord } from '../../net/index.ts';

/** True when a record changes a list place, or an upgrade moves places. Only such steps are needed to rebuild lists. */
export function changesList(records: readonly JournalRecord[]): boolean {
  return records.some((record) =>
    record.kind === 'upgraded'
      ? record.moved !== undefined
      : 'lists' in record && record.lists !== undefined && record.lists.length > 0,
  );
}
