import type { FullRow } from '../server/session-row.ts';
import type { WriteQueries } from './queries.ts';

/** Sends the deletion of locked sessions, and leaves tombstones. */
export function deleteSessions(
  queries: WriteQueries,
  schema: string,
  rows: readonly FullRow[],
): void {
  const ids = rows.map(({ id }) => id);
  for (const table of ['steps', 'inbox', 'input_keys', 'snapshots', 'blobs', 'pending_calls'])
    queries.add(`DELETE FROM ${schema}.${table} WHERE session = ANY($1::bigint[])`, [ids]);
  queries.add(`DELETE FROM ${schema}.sessions WHERE id = ANY($1::bigint[])`, [ids]);
  queries.add(
    `INSERT INTO ${schema}.tombstones (app, user_id, name, uid, session, changed)
           SELECT u.*, pg_current_xact_id() FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[]) AS u
           ON CONFLICT (app, user_id, name) DO UPDATE
             SET uid = excluded.uid, session = excluded.session, changed = excluded.changed`,
    [
      rows.map(({ app }) => app),
      rows.map(({ user_id: user }) => user),
      rows.map(({ name }) => name),
      rows.map(({ uid }) => uid),
      ids,
    ],
  );
}
