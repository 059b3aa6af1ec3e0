import { toSharedState, type SharedColumns, type SharedRow } from '../server/shared-values.ts';
import type { SharedState } from '../store.ts';
import type { TableNames } from './schema.ts';
import type { Reads, Transaction } from './statement.ts';

/** Reads the state of a user and of the app. */
export async function readSharedState(
  queries: Reads,
  t: TableNames,
  scope: { readonly appName: string; readonly userId: string },
): Promise<SharedState> {
  const rows = await queries.rows<Omit<SharedRow, 'app'>>(
    `SELECT user_id, name, value, version FROM ${t('shared_state')} WHERE app = ? AND user_id IN ('', ?)`,
    [scope.appName, scope.userId],
  );
  return toSharedState(rows);
}

export async function readSharedRows(
  queries: Transaction,
  t: TableNames,
  keys: readonly SharedColumns[],
): Promise<readonly SharedRow[]> {
  const where = keys.map(() => '(app = ? AND user_id = ? AND name = ?)').join(' OR ');
  return queries.rows<SharedRow>(
    `SELECT app, user_id, name, value, version FROM ${t('shared_state')} WHERE ${where}`,
    keys.flat(),
  );
}

/** Queues the writes of shared state. */
export function writeSharedRows(
  queries: Transaction,
  t: TableNames,
  rows: readonly SharedRow[],
): void {
  for (const { app, user_id: user, name, value, version } of rows)
    queries.add(
      `INSERT INTO ${t('shared_state')} (app, user_id, name, value, version) VALUES (?, ?, ?, ?, ?)
       ON DUPLICATE KEY UPDATE value = VALUES(value), version = VALUES(version)`,
      [app, user, name, value, version],
    );
}
