import type { ItemStatements } from '../server/item-statements.ts';
import { toKeyParameters, toSessionKey, type FullRow } from '../server/session-row.ts';
import type { SharedRow } from '../server/shared-values.ts';
import type { InputSeq } from '../store.ts';
import type { Queries, WriteQueries } from './queries.ts';
import { FULL_ROW } from './session-rows.ts';
import { addUsage } from './usage-rows.ts';

/** The statements of exports and imports in a schema, whose name is quoted. */
export function itemStatements(s: string): ItemStatements<Queries, WriteQueries> {
  return {
    listSessionPage: async (queries, after, limit) =>
      queries.rows<FullRow>(
        `SELECT ${FULL_ROW} FROM ${s}.sessions AS s WHERE s.id > $1 ORDER BY s.id LIMIT $2`,
        [after, limit],
      ),
    listInputKeys: async (queries, id, after, limit) => {
      const rows = await queries.rows<{ input: InputSeq; key: string }>(
        `SELECT input, key FROM ${s}.input_keys WHERE session = $1 AND input > $2 ORDER BY input LIMIT $3`,
        [id, after, limit],
      );
      return rows.map(({ input, key }) => ({ inputSeq: input, dedupeKey: key }));
    },
    listDocumentKinds: async (queries) => {
      const rows = await queries.rows<{ kind: string }>(
        `SELECT DISTINCT kind FROM ${s}.documents ORDER BY kind`,
      );
      return rows.map(({ kind }) => kind);
    },
    listSharedRows: async (queries) =>
      queries.rows<SharedRow>(
        `SELECT app, user_id, name, value, version FROM ${s}.shared_state ORDER BY app, user_id, name`,
      ),
    listTombstones: async (queries) => {
      const rows = await queries.rows<Pick<FullRow, 'app' | 'user_id' | 'name' | 'uid'>>(
        `SELECT app, user_id, name, uid FROM ${s}.tombstones ORDER BY app, user_id, name`,
      );
      return rows.map((row) => ({ key: toSessionKey(row), uid: row.uid }));
    },
    isUidOfOther: async (queries, { key, uid }) => {
      const others = ['sessions', 'tombstones'].map(
        (table) =>
          `SELECT 1 FROM ${s}.${table} WHERE uid = $4 AND (app, user_id, name) <> ($1, $2, $3)`,
      );
      const found = await queries.rows(`${others.join(' UNION ALL ')} LIMIT 1`, [
        ...toKeyParameters(key),
        uid,
      ]);
      return found.length > 0;
    },
    listUsageApps: async (queries) => {
      const rows = await queries.rows<{ app: string }>(
        `SELECT DISTINCT app FROM ${s}.usage ORDER BY app`,
      );
      return rows.map(({ app }) => app);
    },
    insertDocument: async (queries, { kind, id, version, value }) => {
      queries.add(`INSERT INTO ${s}.documents (kind, id, version, value) VALUES ($1, $2, $3, $4)`, [
        kind,
        id,
        version,
        JSON.stringify(value),
      ]);
    },
    addUsage: async (queries, groups) => addUsage(queries, s, groups),
    insertTombstone: async (queries, { key, uid }) => {
      queries.add(`INSERT INTO ${s}.tombstones (app, user_id, name, uid) VALUES ($1, $2, $3, $4)`, [
        ...toKeyParameters(key),
        uid,
      ]);
    },
    limitPending: async (queries) => queries.limitPending(),
  };
}
