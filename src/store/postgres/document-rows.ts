import type {
  DocumentChange,
  DocumentQuery,
  DocumentResult,
  StoredDocument,
} from '../documents.ts';
import { normalizeQuery } from '../rules/document-rules.ts';
import type { Queries, WriteQueries } from './queries.ts';
import { parseStoredJson } from '../server/parse-stored-json.ts';

export async function readDocumentRow(
  queries: Queries,
  schema: string,
  kind: string,
  id: string,
): Promise<StoredDocument | undefined> {
  const [row] = await queries.rows<{ version: number; value: string }>(
    `SELECT version, value FROM ${schema}.documents WHERE kind = $1 AND id = $2`,
    [kind, id],
  );
  return row && { kind, id, version: row.version, value: parseStoredJson(row.value) };
}

export async function listDocumentRows(
  queries: Queries,
  schema: string,
  query: DocumentQuery,
): Promise<readonly StoredDocument[]> {
  const { kind, prefix, after, descending, limit } = normalizeQuery(query);
  const [compare, order] = descending ? ['<', 'DESC'] : ['>', 'ASC'];
  const rows = await queries.rows<{ id: string; version: number; value: string }>(
    `SELECT id, version, value FROM ${schema}.documents
       WHERE kind = $1 AND ($2::text IS NULL OR id ${compare} $2) AND id >= $3 AND starts_with(id, $3)
       ORDER BY id ${order} LIMIT $4`,
    [kind, after ?? null, prefix, limit < 0 ? null : limit],
  );
  return rows.map(({ id, version, value }) => ({
    kind,
    id,
    version,
    value: parseStoredJson(value),
  }));
}

/** Applies all changes, which have been checked, or none, in the open transaction. */
export async function writeDocumentRows(
  queries: WriteQueries,
  schema: string,
  changes: readonly DocumentChange[],
): Promise<DocumentResult> {
  // A missing document has no row to lock, so writers lock the hashes of the names, in a fixed order.
  queries.add(
    `SELECT pg_advisory_xact_lock(hashtext($1), one) FROM (
       SELECT DISTINCT hashtext(name) AS one FROM unnest($2::text[]) AS name ORDER BY one) AS names`,
    [`${schema}.documents`, changes.map(({ kind, id }) => JSON.stringify([kind, id]))],
  );
  const rows = await queries.rows<{ kind: string; id: string; version: number }>(
    `SELECT kind, id, version FROM ${schema}.documents
     WHERE (kind, id) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
    [changes.map(({ kind }) => kind), changes.map(({ id }) => id)],
  );
  for (const { kind, id, version } of changes) {
    const current = rows.find((row) => row.kind === kind && row.id === id)?.version ?? 0;
    if (current !== version) return { ok: false, kind, id, version: current };
  }
  for (const { kind, id, version, value } of changes) {
    if (value === undefined)
      queries.add(`DELETE FROM ${schema}.documents WHERE kind = $1 AND id = $2`, [kind, id]);
    else
      queries.add(
        `INSERT INTO ${schema}.documents (kind, id, version, value) VALUES ($1, $2, $3, $4)
         ON CONFLICT (kind, id) DO UPDATE SET version = excluded.version, value = excluded.value`,
        [kind, id, version + 1, JSON.stringify(value)],
      );
  }
  return { ok: true };
}
