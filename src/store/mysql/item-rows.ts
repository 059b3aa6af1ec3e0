import type { ItemStatements } from '../server/item-statements.ts';
import {
  SESSION_COLUMNS,
  toKeyParameters,
  toSessionKey,
  type FullRow,
} from '../server/session-row.ts';
import type { SharedRow } from '../server/shared-values.ts';
import type { InputSeq } from '../store.ts';
import type { TableNames } from './schema.ts';
import type { Reads, Transaction } from './statement.ts';
import { addUsage } from './usage-rows.ts';

/** The statements of exports and imports. */
export function itemStatements(t: TableNames): ItemStatements<Reads, Transaction> {
  return {
    listSessionPage: async (queries, after, limit) =>
      queries.rows<FullRow>(
        `SELECT ${SESSION_COLUMNS.join(', ')} FROM ${t('sessions')} WHERE id > ? ORDER BY id LIMIT ?`,
        [after, limit],
      ),
    listInputKeys: async (queries, id, after, limit) => {
      const rows = await queries.rows<{ input: InputSeq; dedupe_key: string }>(
        `SELECT input, dedupe_key FROM ${t('input_keys')} WHERE session = ? AND input > ? ORDER BY input LIMIT ?`,
        [id, after, limit],
      );
      return rows.map(({ input, dedupe_key: key }) => ({ inputSeq: input, dedupeKey: key }));
    },
    listDocumentKinds: async (queries) => {
      const rows = await queries.rows<{ kind: string }>(
        `SELECT DISTINCT kind FROM ${t('documents')} ORDER BY kind`,
      );
      return rows.map(({ kind }) => kind);
    },
    listSharedRows: async (queries) =>
      queries.rows<SharedRow>(
        `SELECT app, user_id, name, value, version FROM ${t('shared_state')} ORDER BY app, user_id, name`,
      ),
    listTombstones: async (queries) => {
      const rows = await queries.rows<Pick<FullRow, 'app' | 'user_id' | 'name' | 'uid'>>(
        `SELECT app, user_id, name, uid FROM ${t('tombstones')} ORDER BY app, user_id, name`,
      );
      return rows.map((row) => ({ key: toSessionKey(row), uid: row.uid }));
    },
    isUidOfOther: async (queries, { key, uid }) => {
      const others = (['sessions', 'tombstones'] as const).map(
        (table) =>
          `(SELECT 1 FROM ${t(table)} WHERE uid = ? AND NOT (app = ? AND user_id = ? AND name = ?) LIMIT 1)`,
      );
      const values = [uid, ...toKeyParameters(key)];
      const found = await queries.rows(others.join(' UNION ALL '), [...values, ...values]);
      return found.length > 0;
    },
    listUsageApps: async (queries) => {
      const rows = await queries.rows<{ app: string }>(
        `SELECT DISTINCT app FROM ${t('usage')} ORDER BY app`,
      );
      return rows.map(({ app }) => app);
    },
    insertDocument: async (queries, { kind, id, version, value }) => {
      queries.add(`INSERT INTO ${t('documents')} (kind, id, version, value) VALUES (?, ?, ?, ?)`, [
        kind,
        id,
        version,
        JSON.stringify(value),
      ]);
    },
    addUsage: async (queries, groups) => addUsage(queries, t, groups),
    insertTombstone: async (queries, { key, uid }) => {
      queries.add(
        `INSERT INTO ${t('tombstones')} (app, user_id, name, uid, session, changed) VALUES (?, ?, ?, ?, 0, 0)`,
        [...toKeyParameters(key), uid],
      );
    },
    limitPending: async (queries) => queries.limitPending(),
  };
}
