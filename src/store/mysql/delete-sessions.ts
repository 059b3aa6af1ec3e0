import type { FullRow } from '../server/session-row.ts';
import type { TableNames } from './schema.ts';
import { CHANGE_NUMBER, type Transaction } from './statement.ts';

const TABLES = ['steps', 'inbox', 'input_keys', 'snapshots', 'blobs', 'pending_calls'] as const;

/** Deletes locked sessions, in the open transaction, and leaves tombstones. */
export async function deleteSessions(
  queries: Transaction,
  t: TableNames,
  rows: readonly FullRow[],
): Promise<void> {
  const ids = rows.map(({ id }) => id);
  for (const table of TABLES) queries.add(`DELETE FROM ${t(table)} WHERE session IN (?)`, [ids]);
  queries.add(`DELETE FROM ${t('sessions')} WHERE id IN (?)`, [ids]);
  for (const { app, user_id: user, name, uid, id } of rows)
    queries.addNumbered(
      `REPLACE INTO ${t('tombstones')} (app, user_id, name, uid, session, changed)
       VALUES (?, ?, ?, ?, ?, ${CHANGE_NUMBER})`,
      [app, user, name, uid, id],
    );
}
