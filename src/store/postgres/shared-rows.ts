import { toSharedState, type SharedColumns, type SharedRow } from '../server/shared-values.ts';
import type { SharedState } from '../store.ts';
import type { Queries, WriteQueries } from './queries.ts';

/** Reads the state of a user and of the app. */
export async function readSharedState(
  queries: Queries,
  schema: string,
  scope: { readonly appName: string; readonly userId: string },
): Promise<SharedState> {
  const rows = await queries.rows<Omit<SharedRow, 'app'>>(
    `SELECT user_id, name, value, version FROM ${schema}.shared_state WHERE app = $1 AND user_id IN ('', $2)`,
    [scope.appName, scope.userId],
  );
  return toSharedState(rows);
}

/** Locks scopes until the transaction ends, in the same order in every transaction. */
export function lockScopes(queries: WriteQueries, schema: string, scopes: readonly string[]): void {
  queries.add(
    `SELECT pg_advisory_xact_lock(hashtext($1), scope) FROM (
       SELECT DISTINCT hashtext(name) AS scope FROM unnest($2::text[]) AS name ORDER BY scope) AS scopes`,
    [schema, scopes],
  );
}

export async function readSharedRows(
  queries: Queries,
  schema: string,
  keys: readonly SharedColumns[],
): Promise<readonly SharedRow[]> {
  return queries.rows<SharedRow>(
    `SELECT app, user_id, name, value, version FROM ${schema}.shared_state
     WHERE (app, user_id, name) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::text[]))`,
    [0, 1, 2].map((index) => keys.map((columns) => columns[index])),
  );
}

export function writeSharedRows(
  queries: WriteQueries,
  schema: string,
  rows: readonly SharedRow[],
): void {
  queries.add(
    `INSERT INTO ${schema}.shared_state (app, user_id, name, value, version)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
     ON CONFLICT (app, user_id, name) DO UPDATE SET value = excluded.value, version = excluded.version`,
    [
      rows.map(({ app }) => app),
      rows.map(({ user_id: user }) => user),
      rows.map(({ name }) => name),
      rows.map(({ value }) => value),
      rows.map(({ version }) => version),
    ],
  );
}
