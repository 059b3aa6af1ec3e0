/**
 * The journal of a session as data: its records, its markings, and what a record does to a marking. For programs that
 * read a session, also in a browser: nothing here needs a platform.
 */

export { applyRecord } from './apply-record.ts';
export { decodeMarking, encodeMarking } from './encoded-marking.ts';
export type { EncodedList, EncodedMarking } from './marking-format.ts';
export type { ListState, ListView } from './list-state.ts';
export { copyMarking, emptyMarking, listIn, mapIn, tokensIn } from './marking.ts';
export type { Firing, Marking, PinnedReads, Token } from './marking.ts';
export type { ClockedToken, FiringChange, MarkingChange } from './marking-change.ts';
export { parseRecords } from './parse-records.ts';
export type {
  Deposit,
  Discarded,
  Due,
  Ended,
  EndedOutcome,
  Faulted,
  Fired,
  Injected,
  JournalRecord,
  ListChange,
  Loaded,
  MapChange,
  NetVersion,
  Owned,
  Pin,
  RecordOutputs,
  RecordSeq,
  Restarted,
  Retrying,
  Started,
  TokenId,
  TokenRemoval,
  Trimmed,
  Upgraded,
} from './record.ts';
export { replayRecords } from './replay-records.ts';
