import type { SessionKey } from '../../core/index.ts';
import type { Queries } from './database.ts';
import { toSessionKey } from '../server/session-row.ts';
import type { SessionRows } from './session-rows.ts';

/** Deletes a session and the sessions of agents that it called, in the open transaction. Returns the deleted keys. */
export async function deleteSessions(
  queries: Queries,
  schema: string,
  sessions: SessionRows,
  key: SessionKey,
): Promise<readonly SessionKey[]> {
  const rows = await sessions.lockFamily(queries, key);
  const ids = rows.map(({ id }) => id);
  if (rows.length === 0) return [];
  for (const table of ['steps', 'inbox', 'input_keys', 'snapshots', 'blobs', 'pending_calls'])
    await queries.rows(`DELETE FROM ${schema}.${table} WHERE session = ANY($1::bigint[])`, [ids]);
  await queries.rows(`DELETE FROM ${schema}.sessions WHERE id = ANY($1::bigint[])`, [ids]);
  await queries.rows(
    `INSERT INTO ${schema}.tombstones (app, user_id, name, uid, session, changed)
           SELECT $1, $2, u.*, pg_current_xact_id() FROM unnest($3::text[], $4::text[], $5::bigint[]) AS u
           ON CONFLICT (app, user_id, name) DO UPDATE
             SET uid = excluded.uid, session = excluded.session, changed = excluded.changed`,
    [key.appName, key.userId, rows.map(({ name }) => name), rows.map(({ uid }) => uid), ids],
  );
  return rows.map(toSessionKey);
}
