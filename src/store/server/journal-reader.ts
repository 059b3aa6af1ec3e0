import {
  type Json,
  type LogEvent,
  type Seq,
  formatSessionKey,
  type SessionKey,
} from '../../core/index.ts';
import type { JournalRecord, RecordSeq } from '../../net/index.ts';
import { joinBlob } from '../encoding/blob-references.ts';
import { STEPS_PER_PAGE, withNumbers } from '../encoding/numbered-items.ts';
import { SessionNotFoundError, StoreCorruptError } from '../store-errors.ts';
import type { CommittedStep, StepNumber } from '../store.ts';

/** A step of a page, with the ends of the session's journal. */
export interface JournalPageRow {
  readonly id: number;
  readonly uid: string;
  readonly head: StepNumber;
  readonly last_seq: Seq;
  /** Null when the page is empty. */
  readonly step: StepNumber | null;
  readonly at: number;
  readonly last_record: RecordSeq;
  readonly last_event: Seq;
  readonly records: string;
  readonly events: string;
}

/** A page of a session's journal. */
export interface JournalPage<T> {
  /** The uid of the session when the page was read. */
  readonly uid: string;
  readonly items: readonly T[];
  /** The number of steps in the page. */
  readonly steps: number;
}

/** Which steps a page has: those after a step; those that changed a list, from a record on; those after an event. */
export type JournalRange =
  | { readonly select: 'steps'; readonly after: StepNumber }
  | { readonly select: 'lists'; readonly after: StepNumber; readonly fromRecord: RecordSeq }
  | { readonly select: 'events'; readonly after: Seq };

/** The statements that read journals. */
export interface JournalStatements<Q> {
  /**
   * Reads the ends of a session's journal and the first `STEPS_PER_PAGE` steps of a range in one statement, oldest
   * first. One row without a step when there are none; no row when there is no session.
   */
  readPage(queries: Q, key: SessionKey, range: JournalRange): Promise<readonly JournalPageRow[]>;
  readSnapshot(
    queries: Q,
    session: number,
  ): Promise<{ readonly step: StepNumber; readonly marking: string } | undefined>;
  /** Reads long strings by hash. Undefined when there is no such session. */
  readBlobs(
    queries: Q,
    session: number,
    hashes: readonly string[],
  ): Promise<ReadonlyMap<string, string> | undefined>;
}

/** Reads the steps of sessions, and their newest snapshots. */
export class JournalReader<Q> {
  readonly #statements: JournalStatements<Q>;
  readonly #location: string;

  constructor(statements: JournalStatements<Q>, location: string) {
    this.#statements = statements;
    this.#location = location;
  }

  /**
   * Reads a page of the steps after `after`. Undefined when there is no such session.
   * @throws SessionNotFoundError when the session is deleted meanwhile
   * @throws StoreCorruptError when a step is missing
   */
  async steps(
    queries: Q,
    key: SessionKey,
    after: StepNumber,
  ): Promise<JournalPage<CommittedStep> | undefined> {
    const rows = await this.#statements.readPage(queries, key, { select: 'steps', after });
    const [first] = rows;
    if (first === undefined) return undefined;
    const steps = await this.#unpackSteps(queries, key, rows);
    const gap = steps.findIndex(({ step }, index) => step !== after + 1 + index);
    const isWhole = steps.length === STEPS_PER_PAGE || after + steps.length >= first.head;
    if (gap !== -1 || !isWhole) {
      const missing = after + 1 + (gap === -1 ? steps.length : gap);
      throw this.#corruptError(key, `step ${missing} is missing`);
    }
    return { uid: first.uid, items: steps, steps: steps.length };
  }

  /** Reads a page of the steps after `after` that changed a list, from record `fromRecord` on. */
  async listSteps(
    queries: Q,
    key: SessionKey,
    after: StepNumber,
    fromRecord: RecordSeq,
  ): Promise<JournalPage<CommittedStep> | undefined> {
    const range = { select: 'lists', after, fromRecord } as const;
    const rows = await this.#statements.readPage(queries, key, range);
    const [first] = rows;
    if (first === undefined) return undefined;
    const items = await this.#unpackSteps(queries, key, rows);
    return { uid: first.uid, items, steps: items.length };
  }

  /**
   * Reads the events after `after` from a page of steps. Undefined when there is no such session.
   * @throws SessionNotFoundError when the session is deleted meanwhile
   * @throws StoreCorruptError when an event is missing
   */
  async events(
    queries: Q,
    key: SessionKey,
    after: Seq,
  ): Promise<JournalPage<LogEvent> | undefined> {
    const rows = await this.#statements.readPage(queries, key, { select: 'events', after });
    const [first] = rows;
    if (first === undefined) return undefined;
    const steps = await this.#unpackSteps(queries, key, rows, ['events']);
    const items = steps.flatMap(({ events }) => events).filter(({ seq }) => seq > after);
    const gap = items.findIndex(({ seq }, index) => seq !== after + 1 + index);
    const isWhole = steps.length === STEPS_PER_PAGE || after + items.length >= first.last_seq;
    if (gap !== -1 || !isWhole) {
      const missing = after + 1 + (gap === -1 ? items.length : gap);
      throw this.#corruptError(key, `event ${missing} is missing`);
    }
    return { uid: first.uid, items, steps: steps.length };
  }

  async snapshot(
    queries: Q,
    key: SessionKey,
    session: number,
  ): Promise<{ readonly step: StepNumber; readonly marking: Json } | undefined> {
    const row = await this.#statements.readSnapshot(queries, session);
    if (row === undefined) return undefined;
    const blobs = await this.#readBlobs(queries, key, session, [row.marking]);
    return {
      step: row.step,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON text contains nothing else
      marking: this.#unpack(row.marking, blobs, key, 'the snapshot') as Json,
    };
  }

  async #unpackSteps(
    queries: Q,
    key: SessionKey,
    rows: readonly JournalPageRow[],
    parts: readonly ('records' | 'events')[] = ['records', 'events'],
  ): Promise<readonly CommittedStep[]> {
    const texts = rows.flatMap((row) => (row.step === null ? [] : parts.map((part) => row[part])));
    const blobs = await this.#readBlobs(queries, key, rows[0]?.id ?? 0, texts);
    const unpackItems = (row: JournalPageRow, part: 'records' | 'events'): unknown =>
      parts.includes(part)
        ? this.#unpack(row[part], blobs, key, `the ${part} of step ${row.step}`)
        : [];
    return rows.flatMap((row) => {
      const { step, at, last_record: lastRecord, last_event: lastEvent } = row;
      if (step === null) return [];
      // oxlint-disable typescript/no-unsafe-type-assertion -- written by a commit
      const records = unpackItems(row, 'records') as readonly Partial<JournalRecord>[];
      const events = unpackItems(row, 'events') as readonly Partial<LogEvent>[];
      // oxlint-enable typescript/no-unsafe-type-assertion
      return [
        {
          step,
          at,
          records: withNumbers<JournalRecord>(records, lastRecord, at),
          events: withNumbers<LogEvent>(events, lastEvent, at),
        },
      ];
    });
  }

  /** Reads the long strings that packed texts refer to. @throws SessionNotFoundError when the session was deleted */
  async #readBlobs(
    queries: Q,
    key: SessionKey,
    session: number,
    texts: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const hashes = new Set(
      texts
        .filter((text) => text.startsWith('&'))
        .flatMap((text) =>
          [...text.matchAll(/"\$blob":"([0-9a-f]{64})"/g)].map(([, hash = '']) => hash),
        ),
    );
    if (hashes.size === 0) return new Map();
    const blobs = await this.#statements.readBlobs(queries, session, [...hashes]);
    if (blobs === undefined) throw new SessionNotFoundError(key, true);
    return blobs;
  }

  #unpack(
    text: string,
    blobs: ReadonlyMap<string, string>,
    key: SessionKey,
    description: string,
  ): unknown {
    try {
      const value: unknown = text.startsWith('&')
        ? JSON.parse(text.slice(1), (_, member: unknown) =>
            joinBlob(member, (hash) => {
              const blob = blobs.get(hash);
              if (blob === undefined) throw new Error(`blob ${hash} is missing`);
              return blob;
            }),
          )
        : JSON.parse(text);
      return value;
    } catch (error) {
      throw this.#corruptError(key, `${description} cannot be read`, error);
    }
  }

  #corruptError(key: SessionKey, problem: string, cause?: unknown): StoreCorruptError {
    return new StoreCorruptError(
      this.#location,
      `is damaged: in session ${formatSessionKey(key)} ${problem}`,
      cause === undefined ? undefined : { cause },
    );
  }
}
