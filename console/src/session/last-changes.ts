import type { JournalHistory } from './journal-history.ts';
import { listMoves } from './record-moves.ts';

/** How many records are looked at. Places that changed earlier have no number. */
const MOST_RECORDS = 2000;

/** The record that changed each place last, at or before a record. */
export function lastChanges(history: JournalHistory, record: number): ReadonlyMap<string, number> {
  const changed = new Map<string, number>();
  const from = Math.max(1, record - MOST_RECORDS);
  for (const one of history.slice(from, record)) {
    const { taken, reset, given, written } = listMoves(one);
    for (const place of [...taken.keys(), ...reset.keys(), ...given.keys(), ...written])
      changed.set(place, one.seq);
  }
  return changed;
}
