import type { SessionKey } from '../../core/index.ts';
import { toSessionKey } from '../server/session-row.ts';
import type { TableNames } from './schema.ts';
import { lockFamily } from './session-rows.ts';
import { CHANGE_NUMBER, type Transaction } from './statement.ts';

const TABLES = ['steps', 'inbox', 'input_keys', 'snapshots', 'blobs', 'pending_calls'] as const;

/** Deletes a session and the sessions of agents that it called, in the open transaction. Returns the deleted keys. */
export async function deleteSessions(
  queries: Transaction,
  t: TableNames,
  key: SessionKey,
): Promise<readonly SessionKey[]> {
  const rows = await lockFamily(queries, t, key);
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  for (const table of TABLES) queries.add(`DELETE FROM ${t(table)} WHERE session IN (?)`, [ids]);
  queries.add(`DELETE FROM ${t('sessions')} WHERE id IN (?)`, [ids]);
  for (const { app, user_id: user, name, uid, id } of rows)
    queries.addNumbered(
      `REPLACE INTO ${t('tombstones')} (app, user_id, name, uid, session, changed)
       VALUES (?, ?, ?, ?, ?, ${CHANGE_NUMBER})`,
      [app, user, name, uid, id],
    );
  return rows.map(toSessionKey);
}
