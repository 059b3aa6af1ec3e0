import { formatStateKey, type Json } from '../../core/index.ts';
import { listConflicts, listWrittenKeys, writtenValues } from '../../core/internal.ts';
import { toSharedColumns } from '../encoding/shared-columns.ts';
import type { SettledStep, SharedState } from '../store.ts';
import type { Queries } from './database.ts';
import { parseStoredJson } from './parse-stored-json.ts';

interface SharedRow {
  readonly app: string;
  readonly user_id: string;
  readonly name: string;
  readonly value: string | null;
  readonly version: number;
}

interface SharedValue {
  readonly columns: readonly [app: string, user: string, name: string];
  readonly value: Json | undefined;
  readonly version: number;
  readonly written: boolean;
}

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
  const entries: [string, Json][] = [];
  const versions: [string, number][] = [];
  for (const { user_id: user, name, value, version } of rows) {
    const key = formatStateKey(user === '' ? 'app' : 'user', name);
    if (value !== null) entries.push([key, parseStoredJson(value)]);
    versions.push([key, version]);
  }
  return { entries: Object.fromEntries(entries), versions: Object.fromEntries(versions) };
}

/** The shared state that the steps of one transaction read and write. */
export class SharedRows {
  readonly #queries: Queries;
  readonly #schema: string;
  readonly #values: Map<string, SharedValue>;

  private constructor(queries: Queries, schema: string, values: Map<string, SharedValue>) {
    this.#queries = queries;
    this.#schema = schema;
    this.#values = values;
  }

  /**
   * Locks the scopes of the shared keys of these steps until the transaction ends, in the same order in every
   * transaction.
   */
  static async lock(
    queries: Queries,
    schema: string,
    steps: readonly SettledStep[],
  ): Promise<void> {
    const scopes = new Set(
      steps.flatMap((step) =>
        listSharedKeys(step).map((key) =>
          JSON.stringify(toSharedColumns(step.key, key).slice(0, 2)),
        ),
      ),
    );
    if (scopes.size === 0) return;
    await queries.rows(
      `SELECT pg_advisory_xact_lock(hashtext($1), scope) FROM (
       SELECT DISTINCT hashtext(name) AS scope FROM unnest($2::text[]) AS name ORDER BY scope) AS scopes`,
      [schema, [...scopes]],
    );
  }

  /** Reads the shared keys of these steps. */
  static async read(
    queries: Queries,
    schema: string,
    steps: readonly SettledStep[],
  ): Promise<SharedRows> {
    const columnsByName = new Map(
      steps.flatMap((step) =>
        listSharedKeys(step).map((key) => {
          const columns = toSharedColumns(step.key, key);
          return [columns.join('\0'), columns] as const;
        }),
      ),
    );
    if (columnsByName.size === 0) return new SharedRows(queries, schema, new Map());
    const all = [...columnsByName.values()];
    const rows = await queries.rows<SharedRow>(
      `SELECT app, user_id, name, value, version FROM ${schema}.shared_state
     WHERE (app, user_id, name) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::text[]))`,
      [0, 1, 2].map((index) => all.map((columns) => columns[index])),
    );
    const values = rows.map(({ app, user_id: user, name, value, version }) => {
      const columns = [app, user, name] as const;
      const parsed = value === null ? undefined : parseStoredJson(value);
      return [columns.join('\0'), { columns, value: parsed, version, written: false }] as const;
    });
    return new SharedRows(queries, schema, new Map(values));
  }

  /** Lists the shared keys whose version changed after the step read them. */
  findChangedKeys(step: SettledStep): readonly string[] {
    return listConflicts(step.shared?.reads ?? {}, (key) => this.#get(step, key).version);
  }

  /** Applies the shared writes of a step. `flush` writes them to the database. */
  apply(step: SettledStep): void {
    if (step.shared === undefined) return;
    const written = writtenValues(step.shared.writes, (key) => this.#get(step, key).value);
    for (const [key, value] of written) {
      const { columns, version } = this.#get(step, key);
      const changed = { columns, value, version: version + 1, written: true };
      this.#values.set(columns.join('\0'), changed);
    }
  }

  async flush(): Promise<void> {
    const written = [...this.#values.values()].filter((one) => one.written);
    if (written.length === 0) return;
    await this.#queries.rows(
      `INSERT INTO ${this.#schema}.shared_state (app, user_id, name, value, version)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
     ON CONFLICT (app, user_id, name) DO UPDATE SET value = excluded.value, version = excluded.version`,
      [
        ...[0, 1, 2].map((index) => written.map(({ columns }) => columns[index])),
        written.map(({ value }) => (value === undefined ? null : JSON.stringify(value))),
        written.map(({ version }) => version),
      ],
    );
  }

  #get({ key: session }: SettledStep, key: string): SharedValue {
    const columns = toSharedColumns(session, key);
    return (
      this.#values.get(columns.join('\0')) ?? {
        columns,
        value: undefined,
        version: 0,
        written: false,
      }
    );
  }
}

function listSharedKeys({ shared }: SettledStep): readonly string[] {
  if (shared === undefined) return [];
  return [...Object.keys(shared.reads), ...listWrittenKeys(shared.writes)];
}
