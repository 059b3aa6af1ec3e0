import {
  type Json,
  type LogEvent,
  type Seq,
  formatSessionKey,
  type SessionKey,
} from '../../../core/index.ts';
import type { JournalRecord, RecordSeq } from '../../../net/index.ts';
import { changesList } from '../../encoding/changes-list.ts';
import { advanceEnd } from '../../rules/step-rules.ts';
import { StoreCorruptError } from '../../store-errors.ts';
import type {
  CommittedStep,
  JournalTrim,
  StoredPendingCall,
  SettledStep,
  StepNumber,
} from '../../store.ts';
import type { Blobs } from '../../encoding/blob-references.ts';
import type { BlobTable } from './blob-table.ts';
import type { Connection, Statement } from '../database/connection.ts';
import { STEPS_PER_PAGE, withNumbers, withoutNumbers } from '../../encoding/numbered-items.ts';
import { pack, packText, type Packed } from '../database/packed-json.ts';
import { ITEM_BITS } from '../database/schema.ts';
import type { SessionHead } from './session-table.ts';

/** The packed columns of a step, built before the transaction begins. */
export interface PackedSqliteStep {
  readonly records: Packed<readonly object[]>;
  readonly events: Packed<readonly object[]>;
  readonly lists: boolean;
  readonly snapshot: Packed<Json> | null;
  readonly pending: Packed<readonly StoredPendingCall[]> | null;
  /** The bytes of records and events as JSON, with their long strings. */
  readonly bytes: number;
  /** The long strings of all columns. */
  readonly blobs: Blobs;
}

/** The packed columns that a trim writes. */
export interface PackedTrim {
  readonly step: StepNumber;
  readonly base: Packed<readonly object[]>;
  readonly snapshot: Packed<Json>;
  readonly blobs: Blobs;
}

interface StepRow {
  readonly step: StepNumber;
  readonly at: number;
  readonly last_record: RecordSeq;
  readonly last_event: Seq;
  readonly records: Packed<Unnumbered<JournalRecord>>;
  readonly events: Packed<Unnumbered<LogEvent>>;
}

/** Items from `withoutNumbers`. */
type Unnumbered<T> = readonly Partial<T>[];

type EventsRow = Omit<StepRow, 'records' | 'last_record'>;

const STEPS_PER_REMOVAL = 256;

const ID = `(? << ${ITEM_BITS} | ?)`;
const NEXT_SESSION = `((? + 1) << ${ITEM_BITS})`;
const STEP = `id & ${2 ** ITEM_BITS - 1} AS step`;

/** The steps of sessions, and their newest snapshots. */
export class JournalTable {
  readonly #file: string;
  readonly #blobs: BlobTable;
  readonly #insert: Statement<never>;
  readonly #replaceSnapshot: Statement<never>;
  readonly #snapshot: Statement<{ step: StepNumber; marking: Packed<Json> }>;
  readonly #steps: Statement<StepRow>;
  readonly #listSteps: Statement<StepRow>;
  readonly #events: Statement<EventsRow>;
  readonly #ends: Statement<{ last_record: RecordSeq; last_event: Seq }>;
  readonly #clearRecords: Statement<never>;
  readonly #replaceRecords: Statement<never>;
  readonly #removeSteps: Statement<never>;
  readonly #removeSnapshot: Statement<never>;

  constructor(connection: Connection, blobs: BlobTable) {
    this.#file = connection.file;
    this.#blobs = blobs;
    this.#insert = connection.prepare(`INSERT INTO steps VALUES (${ID}, ?, ?, ?, ?, ?, ?)`);
    this.#replaceSnapshot = connection.prepare('INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)');
    this.#snapshot = connection.prepare('SELECT step, marking FROM snapshots WHERE session = ?');
    const page = (columns: string, where: string): string => `
      SELECT ${STEP}, ${columns} FROM steps WHERE id > ${ID} AND id < ${NEXT_SESSION} ${where}
      ORDER BY id LIMIT ${STEPS_PER_PAGE}`;
    const whole = 'at, last_record, last_event, records, events';
    this.#steps = connection.prepare(page(whole, ''));
    this.#listSteps = connection.prepare(page(whole, 'AND lists = 1'));
    this.#events = connection.prepare(page('at, last_event, events', ''));
    this.#ends = connection.prepare(`SELECT last_record, last_event FROM steps WHERE id = ${ID}`);
    this.#clearRecords = connection.prepare(
      `UPDATE steps SET last_record = 0, lists = 0, records = '[]' WHERE id >= ${ID} AND id < ${ID}`,
    );
    this.#replaceRecords = connection.prepare(
      `UPDATE steps SET lists = 1, records = ? WHERE id = ${ID}`,
    );
    this.#removeSteps = connection.prepare(`
      DELETE FROM steps WHERE id IN (
        SELECT id FROM steps WHERE id > ? << ${ITEM_BITS} AND id < ${NEXT_SESSION} LIMIT ${STEPS_PER_REMOVAL})`);
    this.#removeSnapshot = connection.prepare('DELETE FROM snapshots WHERE session = ?');
  }

  /** Writes a step that has been checked. */
  append(head: SessionHead, settled: SettledStep, packed: PackedSqliteStep): void {
    const { step, at } = settled;
    const { lastRecord, lastSeq: lastEvent } = advanceEnd(settled, head);
    const lists = packed.lists ? 1 : 0;
    this.#insert.run(
      head.id,
      step,
      at,
      lastRecord,
      lastEvent,
      lists,
      packed.records,
      packed.events,
    );
    if (packed.snapshot !== null) this.#replaceSnapshot.run(head.id, step, packed.snapshot);
    if (packed.blobs.size > 0) this.#blobs.keep(head.id, packed.blobs);
  }

  snapshot(
    key: SessionKey,
    session: number,
  ): { readonly step: StepNumber; readonly marking: Json } | undefined {
    const row = this.#snapshot.get(session);
    if (row === undefined) return undefined;
    const marking = this.#blobs.unpack(
      row.marking,
      `the snapshot of session ${formatSessionKey(key)}`,
    );
    return { step: row.step, marking };
  }

  /** Finds the number of the last record of a step. Undefined when there is no such step. */
  findLastRecord({ id }: SessionHead, step: StepNumber): RecordSeq | undefined {
    return this.#ends.get(id, step)?.last_record;
  }

  /** Replaces the records of some steps by the base of their journal. */
  trim(
    { id }: SessionHead,
    { first, step, base, snapshot, blobs }: PackedTrim & { readonly first: StepNumber },
  ): void {
    this.#clearRecords.run(id, first, id, step);
    this.#replaceRecords.run(base, id, step);
    const present = this.#snapshot.get(id);
    if (present === undefined || present.step < step) this.#replaceSnapshot.run(id, step, snapshot);
    this.#blobs.keep(id, blobs);
  }

  /** Reads a page of the steps after `after`. Empty at the end. @throws StoreCorruptError when a step is missing */
  steps(key: SessionKey, { id, head }: SessionHead, after: StepNumber): readonly CommittedStep[] {
    const rows = this.#steps.all(id, after, id);
    this.#assertContiguous(key, rows, after, head);
    return rows.map((row) => this.#toStep(key, row));
  }

  /** Reads a page of the steps after `after` that changed a list. */
  listSteps(key: SessionKey, { id }: SessionHead, after: StepNumber): readonly CommittedStep[] {
    return this.#listSteps.all(id, after, id).map((row) => this.#toStep(key, row));
  }

  /** Reads a page of the steps after `after`, with their events only. */
  events(
    key: SessionKey,
    { id, head }: SessionHead,
    after: StepNumber,
  ): readonly Pick<CommittedStep, 'step' | 'events'>[] {
    const rows = this.#events.all(id, after, id);
    this.#assertContiguous(key, rows, after, head);
    return rows.map((row) => ({ step: row.step, events: this.#toEvents(key, row) }));
  }

  /** Finds the last step that ends before the record. 0 when there is none. */
  findStepBeforeRecord(head: SessionHead, record: RecordSeq): StepNumber {
    return this.#findLastStep(head, ({ last_record }) => last_record < record);
  }

  /** Finds the last step with no event after `seq`. 0 when there is none. */
  findStepUpToEvent(head: SessionHead, seq: Seq): StepNumber {
    return this.#findLastStep(head, ({ last_event }) => last_event <= seq);
  }

  /** Removes some steps of a deleted session, and finally its snapshot. Returns true when nothing is left. */
  removeSome(session: number): boolean {
    if (Number(this.#removeSteps.run(session, session).changes) === STEPS_PER_REMOVAL) return false;
    this.#removeSnapshot.run(session);
    return true;
  }

  /** Binary search: steps are in order, so no index of record or event numbers is needed. */
  #findLastStep(
    head: SessionHead,
    isBefore: (ends: { readonly last_record: RecordSeq; readonly last_event: Seq }) => boolean,
  ): StepNumber {
    let low = 0;
    let high = head.head;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const ends = this.#ends.get(head.id, middle);
      if (ends !== undefined && isBefore(ends)) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Checks that a page continues after `after` without a gap, and that a short page reaches the head. */
  #assertContiguous(
    key: SessionKey,
    rows: readonly { readonly step: StepNumber }[],
    after: StepNumber,
    head: StepNumber,
  ): void {
    const gap = rows.findIndex(({ step }, index) => step !== after + 1 + index);
    const missing = gap === -1 ? rows.length : gap;
    if (gap === -1 && (rows.length === STEPS_PER_PAGE || after + rows.length >= head)) return;
    throw new StoreCorruptError(
      this.#file,
      `is damaged: step ${after + 1 + missing} of session ${formatSessionKey(key)} is missing`,
    );
  }

  #toStep(key: SessionKey, row: StepRow): CommittedStep {
    const records = this.#blobs.unpack(row.records, describePart('records', row.step, key));
    return {
      step: row.step,
      at: row.at,
      records: withNumbers<JournalRecord>(records, row.last_record, row.at),
      events: this.#toEvents(key, row),
    };
  }

  #toEvents(key: SessionKey, row: EventsRow): readonly LogEvent[] {
    const events = this.#blobs.unpack(row.events, describePart('events', row.step, key));
    return withNumbers<LogEvent>(events, row.last_event, row.at);
  }
}

/** Packs what a trim writes. */
export function packTrim({ step, base, snapshot }: JournalTrim, at: number): PackedTrim {
  const blobs: Blobs = new Map();
  return {
    step,
    base: pack(withoutNumbers([base], at), blobs),
    snapshot: pack(snapshot, blobs),
    blobs,
  };
}

/** Packs a step. Runs before the transaction, to keep it short. */
export function packStep(step: SettledStep): PackedSqliteStep {
  const blobs: Blobs = new Map();
  const { pending } = step.summary;
  const items = withoutNumbers(step.records, step.at);
  const entries = withoutNumbers(step.events, step.at);
  const [recordText, eventText] = [JSON.stringify(items), JSON.stringify(entries)];
  return {
    records: packText(recordText, items, blobs),
    events: packText(eventText, entries, blobs),
    bytes: Buffer.byteLength(recordText) + Buffer.byteLength(eventText),
    lists: changesList(step.records),
    snapshot: step.snapshot === undefined ? null : pack(step.snapshot, blobs),
    pending: pending.length === 0 ? null : pack(pending, blobs),
    blobs,
  };
}

function describePart(part: string, step: StepNumber, key: SessionKey): string {
  return `the ${part} of step ${step} of session ${formatSessionKey(key)}`;
}
