import type {
  DocumentChange,
  DocumentQuery,
  DocumentResult,
  StoredDocument,
} from '../documents.ts';
import { normalizeQuery } from '../rules/document-rules.ts';
import { parseStoredJson } from '../server/parse-stored-json.ts';
import { lockSlots } from './locked-slots.ts';
import type { TableNames } from './schema.ts';
import type { Reads, SqlValue, Transaction } from './statement.ts';

export async function readDocument(
  queries: Reads,
  t: TableNames,
  kind: string,
  id: string,
): Promise<StoredDocument | undefined> {
  const [row] = await queries.rows<{ version: number; value: string }>(
    `SELECT version, value FROM ${t('documents')} WHERE kind = ? AND id = ?`,
    [kind, id],
  );
  return row && { kind, id, version: row.version, value: parseStoredJson(row.value) };
}

export async function listDocuments(
  queries: Reads,
  t: TableNames,
  query: DocumentQuery,
): Promise<readonly StoredDocument[]> {
  const { kind, prefix, after, descending, limit } = normalizeQuery(query);
  const [compare, order] = descending ? ['<', 'DESC'] : ['>', 'ASC'];
  const conditions: readonly (readonly [string, ...SqlValue[]])[] = [
    ['kind = ?', kind],
    ...(after === undefined ? [] : [[`id ${compare} ?`, after] as const]),
    ...(prefix === ''
      ? []
      : [['id >= ? AND LEFT(id, LENGTH(?)) = ?', prefix, prefix, prefix] as const]),
  ];
  const rows = await queries.rows<{ id: string; version: number; value: string }>(
    `SELECT id, version, value FROM ${t('documents')} WHERE ${conditions.map(([sql]) => sql).join(' AND ')}
     ORDER BY id ${order} LIMIT ?`,
    [...conditions.flatMap(([, ...values]) => values), limit < 0 ? Number.MAX_SAFE_INTEGER : limit],
  );
  return rows.map(({ id, version, value }) => ({
    kind,
    id,
    version,
    value: parseStoredJson(value),
  }));
}

/** Applies all changes, which have been checked, or none, in the open transaction. */
export async function writeDocuments(
  queries: Transaction,
  t: TableNames,
  changes: readonly DocumentChange[],
): Promise<DocumentResult> {
  if (changes.length === 0) return { ok: true };
  // A missing document has no row to lock.
  await lockSlots(
    queries,
    t,
    changes.map(({ kind, id }) => JSON.stringify([kind, id])),
  );
  const rows = await queries.rows<{ kind: string; id: string; version: number }>(
    `SELECT kind, id, version FROM ${t('documents')} WHERE ${changes.map(() => '(kind = ? AND id = ?)').join(' OR ')}`,
    changes.flatMap(({ kind, id }) => [kind, id]),
  );
  for (const { kind, id, version } of changes) {
    const current = rows.find((row) => row.kind === kind && row.id === id)?.version ?? 0;
    if (current !== version) return { ok: false, kind, id, version: current };
  }
  for (const { kind, id, version, value } of changes) {
    if (value === undefined)
      queries.add(`DELETE FROM ${t('documents')} WHERE kind = ? AND id = ?`, [kind, id]);
    else
      queries.add(
        `INSERT INTO ${t('documents')} (kind, id, version, value) VALUES (?, ?, ?, ?)
         ON DUPLICATE KEY UPDATE version = VALUES(version), value = VALUES(value)`,
        [kind, id, version + 1, JSON.stringify(value)],
      );
  }
  return { ok: true };
}
