import { Client } from 'pg';

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Creates a schema and fills it with the result of `dumpStore`. */
export async function loadStore(url: string, schema: string, dump: string): Promise<void> {
  await withClient(url, async (client) =>
    client.query(`CREATE SCHEMA ${schema}; SET search_path TO ${schema}; ${dump}`),
  );
}

export async function dropStore(url: string, schema: string): Promise<void> {
  await withClient(url, async (client) => client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`));
}

/**
 * Returns the tables of a store's schema as SQL: tables, indexes, one INSERT per row with bytes in hexadecimal, and the
 * values of the identity counters. The SQL names no schema.
 */
export async function dumpStore(url: string, schema: string): Promise<string> {
  return withClient(url, async (client) => {
    // PostgreSQL then prints names in this schema without it.
    await client.query(`SET search_path TO ${schema}`);
    const ask = async <Row extends object>(sql: string): Promise<readonly Row[]> =>
      (await client.query<Row>(sql, [schema])).rows;
    const columns = await ask<Column>(COLUMNS);
    const constraints = await ask<Definition>(CONSTRAINTS);
    const indexes = await ask<Definition>(INDEXES);
    const lines: string[] = [];
    for (const [table, tableColumns] of Map.groupBy(columns, (one) => one.table)) {
      const members = [...tableColumns, ...constraints.filter((one) => one.table === table)];
      lines.push(
        `CREATE TABLE ${table} (`,
        members.map(({ definition }) => `  ${definition}`).join(',\n'),
        ');',
        ...indexes.filter((one) => one.table === table).map(({ definition }) => `${definition};`),
      );
      const values = tableColumns.map(({ column }) => `quote_nullable(${column}::text)`).join(', ');
      const rows = await client.query<{ readonly row: string }>(
        `SELECT concat_ws(', ', ${values}) AS row FROM ${table} AS t ORDER BY t`,
      );
      for (const { row } of rows.rows)
        lines.push(`INSERT INTO ${table} OVERRIDING SYSTEM VALUE VALUES (${row});`);
      for (const { column } of tableColumns.filter((one) => one.isIdentity && rows.rows.length > 0))
        lines.push(
          `SELECT setval(pg_get_serial_sequence('${table}', '${column}'), max(${column})) FROM ${table};`,
        );
    }
    return `${lines.join('\n')}\n`;
  });
}

interface Definition {
  readonly table: string;
  readonly definition: string;
}

interface Column extends Definition {
  readonly column: string;
  readonly isIdentity: boolean;
}

const COLUMNS = `
  SELECT c.relname AS table, quote_ident(a.attname) AS column, a.attidentity <> '' AS "isIdentity",
    concat_ws(' ', quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
      CASE WHEN a.attcollation <> t.typcollation THEN 'COLLATE ' || quote_ident(l.collname) END,
      CASE WHEN a.attnotnull THEN 'NOT NULL' END,
      CASE WHEN a.attidentity = 'a' THEN 'GENERATED ALWAYS AS IDENTITY' END) AS definition
  FROM pg_class AS c
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type AS t ON t.oid = a.atttypid
  LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
  WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r'
  ORDER BY c.relname, a.attnum`;

const CONSTRAINTS = `
  SELECT c.relname AS table,
    'CONSTRAINT ' || quote_ident(o.conname) || ' ' || pg_get_constraintdef(o.oid) AS definition
  FROM pg_constraint AS o JOIN pg_class AS c ON c.oid = o.conrelid
  WHERE o.connamespace = $1::regnamespace AND o.contype <> 'n'
  ORDER BY o.conname`;

/** The indexes that no constraint creates. */
const INDEXES = `
  SELECT c.relname AS table, pg_get_indexdef(i.indexrelid, 0, true) AS definition
  FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
  WHERE c.relnamespace = $1::regnamespace
    AND NOT EXISTS (SELECT 1 FROM pg_constraint AS o WHERE o.conindid = i.indexrelid)
  ORDER BY i.indexrelid::regclass::text`;
