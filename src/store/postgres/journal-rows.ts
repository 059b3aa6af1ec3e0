import {
  type Json,
  type LogEvent,
  type Seq,
  formatSessionKey,
  type SessionKey,
} from '../../core/index.ts';
import type { JournalRecord, RecordSeq } from '../../net/index.ts';
import {
  holdsLongString,
  joinBlob,
  splitBlobs,
  MAX_INLINE_JSON_LENGTH,
  type Blobs,
} from '../encoding/blob-references.ts';
import { STEPS_PER_PAGE, withNumbers } from '../encoding/numbered-items.ts';
import { SessionNotFoundError, StoreCorruptError } from '../store-errors.ts';
import type { CommittedStep, StepNumber } from '../store.ts';
import type { Queries } from './database.ts';
import { toKeyParameters } from './session-rows.ts';

interface PageRow {
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

/**
 * Converts a value to JSON text. Adds strings that are too long for a row to `blobs`; text that refers to them starts
 * with `&`.
 */
export function packText(value: unknown, blobs: Blobs): string {
  const text = JSON.stringify(value);
  const isSplit = text.length > MAX_INLINE_JSON_LENGTH && holdsLongString(value);
  return isSplit ? `&${JSON.stringify(splitBlobs(value, blobs))}` : text;
}

/** The steps of sessions, and their newest snapshots. */
export class JournalRows {
  readonly #schema: string;
  readonly #location: string;

  constructor(schema: string, location: string) {
    this.#schema = schema;
    this.#location = location;
  }

  /**
   * Reads a page of the steps after `after`. Undefined when there is no such session.
   * @throws SessionNotFoundError when the session is deleted meanwhile
   * @throws StoreCorruptError when a step is missing
   */
  async steps(
    queries: Queries,
    key: SessionKey,
    after: StepNumber,
  ): Promise<JournalPage<CommittedStep> | undefined> {
    const rows = await this.#page(queries, key, 'step > $4', after);
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
    queries: Queries,
    key: SessionKey,
    after: StepNumber,
    fromRecord: RecordSeq,
  ): Promise<JournalPage<CommittedStep> | undefined> {
    const where = 'lists AND step > $4 AND last_record >= $5';
    const rows = await this.#page(queries, key, where, after, fromRecord);
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
    queries: Queries,
    key: SessionKey,
    after: Seq,
  ): Promise<JournalPage<LogEvent> | undefined> {
    const rows = await this.#page(queries, key, 'last_event > $4', after);
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
    queries: Queries,
    key: SessionKey,
    session: number,
  ): Promise<{ readonly step: StepNumber; readonly marking: Json } | undefined> {
    const [row] = await queries.rows<{ step: StepNumber; marking: string }>(
      `SELECT step, marking FROM ${this.#schema}.snapshots WHERE session = $1`,
      [session],
    );
    if (row === undefined) return undefined;
    const blobs = await this.#readBlobs(queries, key, session, [row.marking]);
    return {
      step: row.step,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON text contains nothing else
      marking: this.#unpack(row.marking, blobs, key, 'the snapshot') as Json,
    };
  }

  /** Reads the ends of a session's journal and a page of its steps in one statement. Empty when there is no session. */
  async #page(
    queries: Queries,
    key: SessionKey,
    where: string,
    ...values: readonly number[]
  ): Promise<readonly PageRow[]> {
    return queries.rows<PageRow>(
      `SELECT s.id, s.uid, s.head, s.last_seq, t.* FROM ${this.#schema}.sessions AS s LEFT JOIN LATERAL (
         SELECT step, at, last_record, last_event, records, events FROM ${this.#schema}.steps
         WHERE session = s.id AND ${where} ORDER BY step LIMIT ${STEPS_PER_PAGE}) AS t ON true
       WHERE s.app = $1 AND s.user_id = $2 AND s.name = $3 ORDER BY t.step`,
      [...toKeyParameters(key), ...values],
    );
  }

  async #unpackSteps(
    queries: Queries,
    key: SessionKey,
    rows: readonly PageRow[],
    parts: readonly ('records' | 'events')[] = ['records', 'events'],
  ): Promise<readonly CommittedStep[]> {
    const texts = rows.flatMap((row) => (row.step === null ? [] : parts.map((part) => row[part])));
    const blobs = await this.#readBlobs(queries, key, rows[0]?.id ?? 0, texts);
    const unpackItems = (row: PageRow, part: 'records' | 'events'): unknown =>
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
    queries: Queries,
    key: SessionKey,
    session: number,
    texts: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const hashes = new Set(
      texts
        .filter((text) => text.startsWith('&'))
        .flatMap((text) =>
          [...text.matchAll(/"\$blob":"([0-9a-f]{64})"/g)].map(([, hash]) => hash),
        ),
    );
    if (hashes.size === 0) return new Map();
    const rows = await queries.rows<{ hash: string; bytes: Buffer | null }>(
      `SELECT b.hash, b.bytes FROM ${this.#schema}.sessions AS s LEFT JOIN ${this.#schema}.blobs AS b
       ON b.session = s.id AND b.hash = ANY($2) WHERE s.id = $1`,
      [session, [...hashes]],
    );
    if (rows.length === 0) throw new SessionNotFoundError(key, true);
    return new Map(rows.map(({ hash, bytes }) => [hash, bytes?.toString('utf8') ?? '']));
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
