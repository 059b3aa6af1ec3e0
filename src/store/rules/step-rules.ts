import { parseIdentity } from '../../core/index.ts';
import { isSharedKey, listWrittenKeys } from '../../core/internal.ts';
import type { RecordSeq } from '../../net/index.ts';
import { InvalidStepError } from '../store-errors.ts';
import type { InputSeq, SessionRow, SettledStep } from '../store.ts';

/** The end of a session's journal and log. */
export interface JournalEnd {
  readonly lastRecord: RecordSeq;
  readonly lastSeq: number;
}

/** True when the step is not by the session's current owner, or does not follow its last step. */
export function isStale(
  step: SettledStep,
  row: Pick<SessionRow, 'uid' | 'owner' | 'epoch' | 'head'>,
): boolean {
  return (
    row.uid !== step.uid ||
    row.owner !== step.owner ||
    row.epoch !== step.epoch ||
    row.head !== step.step - 1
  );
}

/** True when the session is not at the step that a claim expects. */
export function isAtOtherStep(
  row: Pick<SessionRow, 'uid' | 'head'>,
  expected: Pick<SessionRow, 'uid' | 'head'> | undefined,
): boolean {
  return expected !== undefined && (row.uid !== expected.uid || row.head !== expected.head);
}

/**
 * Checks that the records and events of a step continue the journal without gaps. Readers derive their numbers from it.
 * @throws InvalidStepError
 */
export function checkNumbering(step: SettledStep, end: JournalEnd): void {
  checkSequence(step, 'records', step.records, lastRecordBefore(step, end));
  checkSequence(step, 'events', step.events, end.lastSeq);
}

/** The end of a journal after a step that has been checked. */
export function advanceEnd(
  { records, events }: Pick<SettledStep, 'records' | 'events'>,
  { lastRecord, lastSeq }: JournalEnd,
): JournalEnd {
  return { lastRecord: records.at(-1)?.seq ?? lastRecord, lastSeq: lastSeq + events.length };
}

/** A journal may begin with the marking that removed records gave, under the number of the last one. */
function lastRecordBefore({ key, records }: SettledStep, { lastRecord }: JournalEnd): RecordSeq {
  const index = records.findIndex(({ kind }) => kind === 'trimmed');
  const base = records[index];
  if (base === undefined) return lastRecord;
  if (index === 0 && lastRecord === 0) return base.seq - 1;
  throw new InvalidStepError(
    key,
    `records[${index}]`,
    `is of kind "trimmed", and is not the first record of the journal.`,
  );
}

/**
 * Checks that a step consumes only existing inputs. Otherwise a later input would be lost.
 * @throws InvalidStepError
 */
export function checkConsumed(step: SettledStep, newest: InputSeq): void {
  if (step.inboxUpTo <= newest) return;
  throw new InvalidStepError(
    step.key,
    'inboxUpTo',
    `is ${step.inboxUpTo}, but the newest input is ${newest}.`,
  );
}

/**
 * Numbers the inputs that a step accepts. Undefined when the step must not accept them.
 * @param inbox the newest input of the session, and the last one that a step consumed
 * @param isUsed true for a dedupe key that the session has
 */
export function numberAcceptedInputs(
  { accepts = [], inboxUpTo }: SettledStep,
  inbox: { readonly newest: InputSeq; readonly inboxUpTo: InputSeq },
  isUsed: (dedupeKey: string) => boolean,
): readonly InputSeq[] | undefined {
  // An input that is unread comes first.
  if (inbox.newest > Math.max(inbox.inboxUpTo, inboxUpTo) || accepts.some(isUsed)) return undefined;
  return accepts.map((_, index) => inbox.newest + 1 + index);
}

function checkSequence(
  step: SettledStep,
  field: string,
  items: readonly { readonly seq: number }[],
  last: number,
): void {
  let expected = last;
  for (const { seq } of items) {
    expected++;
    if (seq === expected) continue;
    throw new InvalidStepError(
      step.key,
      `${field}[${expected - last - 1}].seq`,
      `is ${seq}; expected ${expected}.`,
    );
  }
}

/**
 * Checks the fields of a step that do not depend on the session.
 * @throws InvalidStepError, InvalidInputError
 */
export function checkStep(step: SettledStep): void {
  checkNumber(step, 'step', step.step, 1);
  checkNumber(step, 'inboxUpTo', step.inboxUpTo, 0);
  checkNumber(step, 'summary.inFlight', step.summary.inFlight, 0);
  if (step.summary.nextDueAt !== null && !(step.summary.nextDueAt >= 0)) {
    throw new InvalidStepError(
      step.key,
      'summary.nextDueAt',
      'must be epoch milliseconds, or null.',
    );
  }
  checkAcceptedKeys(step);
  if (step.shared === undefined) return;
  const { reads, writes } = step.shared;
  const keys = [...Object.keys(reads), ...listWrittenKeys(writes)];
  const wrong = keys.find((key) => !isSharedKey(key));
  if (wrong !== undefined) {
    throw new InvalidStepError(
      step.key,
      `shared[${JSON.stringify(wrong)}]`,
      'is not a shared key: it must start with "user:" or "app:".',
    );
  }
}

function checkAcceptedKeys(step: SettledStep): void {
  const { accepts = [] } = step;
  for (const [index, key] of accepts.entries()) {
    parseIdentity(key, `accepts[${index}]`);
    if (accepts.indexOf(key) !== index)
      throw new InvalidStepError(step.key, `accepts[${index}]`, 'repeats an earlier key.');
  }
}

function checkNumber(step: SettledStep, field: string, value: number, min: number): void {
  if (Number.isSafeInteger(value) && value >= min) return;
  throw new InvalidStepError(
    step.key,
    field,
    `must be an integer of at least ${min}; it is ${value}.`,
  );
}
