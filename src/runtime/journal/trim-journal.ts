import { isDeepStrictEqual } from 'node:util';
import { checkOptions, InvalidInputError, optionTable } from '../../core/index.ts';
import type { LogEvent, OptionTable, SessionKey } from '../../core/index.ts';
import { applyRecord, emptyMarking } from '../../net/index.ts';
import { decodeMarking, encodeMarking } from '../../net/internal.ts';
import type { Marking } from '../../net/index.ts';
import { findFirstStep, SessionNotFoundError } from '../../store/internal.ts';
import type { SessionRow, StepNumber, Store } from '../../store/index.ts';
import { hydrate, toStoredSnapshot } from './hydrate.ts';
import { UnverifiedBaseError } from './unverified-base-error.ts';

/** The options of `trimJournal`. */
export interface JournalTrimOptions {
  /** Only records of steps up to this time are removed, in epoch ms. */
  readonly upTo: number;
  /** True: nothing is removed, and what would be is returned. Default: false. */
  readonly dryRun?: boolean;
}

/** The options of `trimJournal`. */
export const JOURNAL_TRIM_OPTIONS: OptionTable = optionTable<JournalTrimOptions>('trimJournal', {
  upTo: true,
  dryRun: true,
});

/** A session that works commits steps all the time. */
const ATTEMPTS = 3;

/** What was removed of a journal. */
export interface JournalTrimming {
  /** The last step without its records. */
  readonly step: StepNumber;
  /** The number of records that were removed. */
  readonly records: number;
}

/** A step at which a journal can begin, as it was found at one moment. */
interface TrimPoint extends JournalTrimming {
  readonly row: SessionRow;
  /** The first step that has records. */
  readonly begin: StepNumber;
}

/**
 * Removes the oldest records of a session, up to the end of a turn, and begins its journal with the marking after them. The
 * session continues as if nothing was removed, and its log stays. The marking is verified before: it leads to the marking
 * that the session has now. Undefined when there is nothing to remove, or the session got steps in each of three attempts.
 * @throws UnverifiedBaseError, SessionNotFoundError, InvalidInputError, UnknownFieldError
 */
export async function trimJournal(
  store: Store,
  key: SessionKey,
  options: JournalTrimOptions,
): Promise<JournalTrimming | undefined> {
  checkOptions(JOURNAL_TRIM_OPTIONS, options);
  const { upTo, dryRun = false } = options;
  if (!Number.isFinite(upTo))
    throw new InvalidInputError('upTo', `must be a time in epoch ms; it is ${upTo}.`);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const point = await findTrimPoint(store, key, upTo);
    if (point === undefined) return undefined;
    const { step, records } = point;
    if (dryRun || (await trimTo(store, point))) return { step, records };
  }
  return undefined;
}

/** Finds the last step up to a time at which no turn and no effect runs. Undefined when the journal begins there. */
async function findTrimPoint(
  store: Store,
  key: SessionKey,
  upTo: number,
): Promise<TrimPoint | undefined> {
  const row = await store.find(key);
  if (row === undefined) throw new SessionNotFoundError(key, true);
  if (row.createdAt > upTo) return undefined;
  const begin = await findFirstStep(store.listSteps(key, 1));
  const marking = emptyMarking();
  const turns = new Set<string>();
  let removed = 0;
  let point: TrimPoint | undefined;
  for await (const { step, at, records, events } of store.steps(key, begin - 1)) {
    if (at > upTo || step > row.head) break;
    for (const record of records) applyRecord(marking, record);
    if (records[0]?.kind !== 'trimmed') removed += records.length;
    followTurns(turns, events);
    if (step > 1 && removed > 0 && turns.size === 0 && marking.firings.size === 0)
      point = { row, step, begin, records: removed };
  }
  return point;
}

/** Removes the invocations that events end, and adds those that they begin. */
function followTurns(turns: Set<string>, events: readonly LogEvent[]): void {
  for (const event of events)
    if (event.type === 'turn.ended') turns.delete(event.invocationId);
    else if (event.type === 'turn.started' || event.type === 'turn.resumed')
      turns.add(event.invocationId);
}

/** Returns false when the session changed since the point was found. @throws UnverifiedBaseError */
async function trimTo(store: Store, { row, begin, step: to }: TrimPoint): Promise<boolean> {
  const { key, head } = row;
  let marking = emptyMarking();
  let base: ReturnType<typeof encodeMarking> | undefined;
  let snapshot: ReturnType<typeof toStoredSnapshot> | undefined;
  for await (const { step, records } of store.steps(key, begin - 1)) {
    if (step > head) break;
    for (const record of records) applyRecord(marking, record);
    if (step !== to) continue;
    base = encodeMarking(marking);
    snapshot = toStoredSnapshot(marking);
    const restored = restoreBase(base);
    if (restored === undefined || !isSame(restored, marking))
      throw new UnverifiedBaseError(key, to);
    // What the base leads to is compared with what the stored journal leads to.
    marking = restored;
  }
  const current = await hydrate(store, key);
  const now = await store.find(key);
  if (now?.uid !== row.uid || now.head !== head) return false;
  if (base === undefined || snapshot === undefined || !isSame(marking, current))
    throw new UnverifiedBaseError(key, to);
  const { seq, at } = base;
  return store.trim(key, {
    expected: { uid: row.uid, head },
    step: to,
    base: { kind: 'trimmed', seq, at, marking: base },
    snapshot,
  });
}

/** Reads a base as it is read from a store. Undefined if it cannot be read. */
function restoreBase(base: ReturnType<typeof encodeMarking>): Marking | undefined {
  try {
    return decodeMarking(JSON.parse(JSON.stringify(base)));
  } catch {
    return undefined;
  }
}

function isSame(one: Marking, other: Marking): boolean {
  return isDeepStrictEqual(encodeMarking(one), encodeMarking(other));
}
