import type { InboxRow, InputSeq } from '../store.ts';
import type { FullRow } from './session-row.ts';
import { parseStoredJson } from './parse-stored-json.ts';

/** An input to append to the inbox of a session. */
export interface AppendedInput {
  readonly inputSeq: InputSeq;
  readonly dedupeKey: string;
  readonly place: string;
  /** JSON text. */
  readonly value: string;
}

/** A dedupe key of a session. */
export interface InputKey {
  readonly id: FullRow['id'];
  readonly dedupeKey: string;
}

/** An unread input of a session, as the table `inbox` has it. */
export interface InboxColumns {
  readonly input: InputSeq;
  readonly dedupe_key: string;
  readonly place: string;
  readonly value: string;
}

export function toInboxRow(row: InboxColumns): InboxRow {
  return {
    inputSeq: row.input,
    input: { place: row.place, value: parseStoredJson(row.value) },
    key: row.dedupe_key,
  };
}
