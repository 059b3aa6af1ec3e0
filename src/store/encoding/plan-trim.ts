import { InvalidInputError } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import type { JournalRecord, RecordSeq } from '../../net/index.ts';
import { findFirstStep } from '../rules/first-step.ts';
import type { CommittedStep, JournalTrim, SessionRow, StepNumber } from '../store.ts';
import { holdsLongString, splitBlobs, type Blobs } from './blob-references.ts';
import { withoutNumbers } from './numbered-items.ts';

/** What a trim changes, computed before its transaction begins. */
export interface TrimPlan {
  /** The first step that has records. Its records have another end if the journal was trimmed in the meantime. */
  readonly first: { readonly step: StepNumber; readonly lastRecord: RecordSeq };
  /** The time of the step that gets the base. */
  readonly at: number;
  /** The bytes that the base has more than the removed records. */
  readonly addedBytes: number;
  /** The hashes of the long strings that only removed records have. An unread input may have them, too. */
  readonly released: ReadonlySet<string>;
}

/**
 * Reads a session and plans its trim. Undefined: its journal begins at the step or later already.
 * @param content reads of the session's journal, its snapshot, and its pending calls
 * @throws InvalidInputError if the base is not the marking after the step
 */
export async function planTrim(
  { step: to, base, snapshot, expected }: JournalTrim,
  content: {
    readonly steps: (after: StepNumber) => AsyncIterable<CommittedStep>;
    readonly listSteps: (fromRecord: RecordSeq) => AsyncIterable<CommittedStep>;
    readonly snapshot: { readonly step: StepNumber; readonly marking: Json } | undefined;
    readonly pending: SessionRow['pending'];
  },
): Promise<TrimPlan | undefined> {
  const removed = new Set<string>();
  const kept = new Set<string>();
  addHashes(kept, [base, snapshot, content.pending]);
  if (content.snapshot !== undefined) addHashes(kept, content.snapshot.marking);
  let first: TrimPlan['first'] | undefined;
  let lastRecord = 0;
  let at = 0;
  let bytes = 0;
  const begin = await findFirstStep(content.listSteps(1));
  for await (const one of content.steps(begin - 1)) {
    // What is kept matters only to what is removed.
    if (one.step > expected.head || (one.step > to && removed.size === 0)) break;
    addHashes(kept, one.events);
    addHashes(one.step > to ? kept : removed, one.records);
    if (one.step > to) continue;
    at = one.at;
    const last = one.records.at(-1);
    if (last === undefined && first === undefined) continue;
    bytes -= measureRecords(one.records, one.at);
    if (last === undefined) continue;
    lastRecord = last.seq;
    first ??= { step: one.step, lastRecord };
    if (one.step === to && last.kind === 'trimmed') return undefined;
  }
  // The step is before the base.
  if (first === undefined) return undefined;
  if (removed.size > 0)
    for await (const { step, events } of content.steps(0)) {
      if (step >= begin) break;
      addHashes(kept, events);
    }
  if (lastRecord !== base.seq) {
    // Another trim has removed records between two pages.
    if ((await findFirstStep(content.listSteps(1))) !== begin) return undefined;
    throw new InvalidInputError(
      'base',
      `must be the marking after record ${lastRecord}, the last one of step ${to}; it is that after record ${base.seq}.`,
    );
  }
  // A step without records has `[]`.
  bytes += (to - first.step) * 2 + measureRecords([base], at);
  return {
    first,
    at,
    addedBytes: bytes,
    released: new Set([...removed].filter((hash) => !kept.has(hash))),
  };
}

function measureRecords(records: readonly JournalRecord[], at: number): number {
  return Buffer.byteLength(JSON.stringify(withoutNumbers(records, at)));
}

/** Adds the hashes of the long strings of a value. */
export function addHashes(hashes: Set<string>, value: unknown): void {
  if (!holdsLongString(value)) return;
  const blobs: Blobs = new Map();
  splitBlobs(value, blobs);
  for (const hash of blobs.keys()) hashes.add(hash);
}
