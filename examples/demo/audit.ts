import { DatabaseSync } from 'node:sqlite';
import { inflateRawSync } from 'node:zlib';

const STEPS = `
  SELECT id & 0xffffffff AS step, last_event AS last, events
  FROM steps WHERE id >> 32 = ? ORDER BY id`;

/**
 * Reads how a session's log is numbered from the bare tables of the SQLite file, and shares no code with what wrote
 * them. Gap-free: no step is missing, each ends at the number its events lead to, and the last one is the session's.
 */
export function auditLog(file: string, name: string): { events: number; gapFree: boolean } {
  using database = new DatabaseSync(file, { readOnly: true });
  const sessions = database.prepare('SELECT id, head, last_seq FROM sessions WHERE name = ?');
  const { id = null, head, last_seq: lastSeq } = sessions.get(name) ?? {};
  const steps = database.prepare(STEPS).all(id);
  let seq = 0;
  const holds = steps.map(({ step, last, events }, index) => {
    seq += countEvents(events);
    return step === index + 1 && last === seq;
  });
  return { events: seq, gapFree: holds.every(Boolean) && head === steps.length && lastSeq === seq };
}

/** How many there are in a JSON array; a long one is deflated, and `&` stands before one with long strings left out. */
function countEvents(events: unknown): number {
  const text = events instanceof Uint8Array ? inflateRawSync(events).toString() : String(events);
  const list: readonly unknown[] = JSON.parse(text.replace(/^&/, ''));
  return list.length;
}
