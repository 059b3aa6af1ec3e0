import type { JournalRecord } from '../../net/journal/record.ts';

/** True when a record of the step changed a list place, or an upgrade moved places: only such steps are needed to rebuild a list. */
export function changesList(records: readonly JournalRecord[]): boolean {
  return records.some((record) =>
    record.kind === 'upgraded'
      ? record.moved !== undefined
      : 'lists' in record && record.lists !== undefined && record.lists.length > 0,
  );
}
