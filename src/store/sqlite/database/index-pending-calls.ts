import type { DatabaseSync } from 'node:sqlite';
import type { StoredPendingCall } from '../../store.ts';
import { pack, unpack, type Packed } from './packed-json.ts';

/** A call as versions 1 and 2 of the schema store it. */
type OldCall = Omit<StoredPendingCall, 'since'>;

/**
 * Fills the index of pending calls from the sessions of an older file. Calls there have no time: they count as waiting
 * since the last step of their session.
 */
export function indexPendingCalls(database: DatabaseSync): void {
  const readBlob = database.prepare('SELECT bytes FROM blobs WHERE hash = ?');
  const update = database.prepare('UPDATE sessions SET pending = ? WHERE id = ?');
  const insert = database.prepare(
    'INSERT OR REPLACE INTO pending_calls (app, since, session, call, user, agent, tool, needs) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const rows = database.prepare(
    'SELECT id, app, user, agent, pending, updated_at AS since FROM sessions WHERE pending IS NOT NULL',
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns of the statement above
  for (const row of rows.all() as unknown as readonly SessionWithCalls[]) {
    const { id, app, user, agent, since } = row;
    const calls = unpack(row.pending, (hash) => {
      const blob = readBlob.get(hash)?.['bytes'];
      if (!(blob instanceof Uint8Array)) throw new Error(`blob ${hash} is missing`);
      return Buffer.from(blob).toString('utf8');
    }).map((call) => ({ ...call, since }));
    // The long strings of the calls are stored already.
    update.run(pack(calls, new Map()), id);
    for (const { callId, name, needs, via } of calls)
      if (via === undefined) insert.run(app, since, id, callId, user, agent, name, needs);
  }
}

interface SessionWithCalls {
  readonly id: number;
  readonly app: string;
  readonly user: string;
  readonly agent: string;
  readonly pending: Packed<readonly OldCall[]>;
  readonly since: number;
}
