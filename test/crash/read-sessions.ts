import { DatabaseSync } from 'node:sqlite';
import { inflateRawSync } from 'node:zlib';
import type { LogEvent } from '../../src/core/index.ts';

interface StepRow {
  readonly step: number;
  readonly at: number;
  readonly last_record: number;
  readonly last_event: number;
  readonly records: string | Uint8Array;
  readonly events: string | Uint8Array;
}

/** A session as it is stored in the tables. */
export interface StoredSession {
  readonly name: string;
  readonly status: string;
  readonly owner: string | null;
  readonly epoch: number;
  readonly events: readonly LogEvent[];
  /** Gaps in the numbers of steps, records or events. */
  readonly gaps: readonly string[];
  readonly hasSnapshot: boolean;
}

/** Reads every session from the tables of the SQLite file. It shares no code with the store. */
export function readSessions(file: string): ReadonlyMap<string, StoredSession> {
  using database = new DatabaseSync(file, { readOnly: true });
  const sessions = database
    .prepare('SELECT id, name, status, owner, epoch, head, last_seq, last_record FROM sessions')
    .all();
  const rows = database.prepare(
    'SELECT id & 0xffffffff AS step, at, last_record, last_event, records, events FROM steps WHERE id >> 32 = ? ORDER BY id',
  );
  const snapshot = database.prepare('SELECT 1 FROM snapshots WHERE session = ?');
  return new Map(
    sessions.map((session) => {
      const { id = null, head, last_seq, last_record, owner } = session;
      const name = String(session['name']);
      const steps = rows.all(id) as unknown as readonly StepRow[];
      const gaps: string[] = [];
      const events: LogEvent[] = [];
      let records = 0;
      for (const [index, row] of steps.entries()) {
        if (row.step !== index + 1) gaps.push(`step ${index + 1} is ${row.step}`);
        records += parseList(row.records).length;
        for (const event of parseList(row.events)) {
          events.push({ at: row.at, ...Object(event), seq: events.length + 1 } as LogEvent);
        }
        if (row.last_record !== records)
          gaps.push(`records of step ${row.step} end at ${row.last_record}, not ${records}`);
        if (row.last_event !== events.length)
          gaps.push(`events of step ${row.step} end at ${row.last_event}, not ${events.length}`);
      }
      if (head !== steps.length)
        gaps.push(`the head is ${head}, but there are ${steps.length} steps`);
      if (last_seq !== events.length)
        gaps.push(`last_seq is ${last_seq}, but there are ${events.length} events`);
      if (last_record !== records)
        gaps.push(`last_record is ${last_record}, but there are ${records} records`);
      return [
        name,
        {
          name,
          status: String(session['status']),
          owner: owner === null ? null : String(owner),
          epoch: Number(session['epoch']),
          events,
          gaps,
          hasSnapshot: snapshot.get(id) !== undefined,
        },
      ];
    }),
  );
}

function parseList(packed: string | Uint8Array): readonly unknown[] {
  const text = typeof packed === 'string' ? packed : inflateRawSync(packed).toString('utf8');
  const list: readonly unknown[] = JSON.parse(text.replace(/^&/, ''));
  return list;
}
