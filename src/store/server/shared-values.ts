import { formatStateKey, type Json } from '../../core/index.ts';
import { listConflicts, listWrittenKeys, writtenValues } from '../../core/internal.ts';
import { toSharedColumns } from '../encoding/shared-columns.ts';
import type { SettledStep, SharedState } from '../store.ts';
import { parseStoredJson } from './parse-stored-json.ts';

/** A row of the table of shared state. */
export interface SharedRow {
  readonly app: string;
  /** Empty for app state. */
  readonly user_id: string;
  readonly name: string;
  /** JSON text. Null for a deleted key, whose version stays. */
  readonly value: string | null;
  readonly version: number;
}

/** The columns that identify a row of shared state. */
export type SharedColumns = readonly [app: string, user: string, name: string];

/** The statements for the shared state of a commit. */
export interface SharedStatements<Q> {
  /** Locks scopes until the transaction ends, in the same order in every transaction. */
  lockScopes(queries: Q, scopes: readonly string[]): Promise<void>;
  readShared(queries: Q, keys: readonly SharedColumns[]): Promise<readonly SharedRow[]>;
  writeShared(queries: Q, rows: readonly SharedRow[]): Promise<void>;
}

interface SharedValue {
  readonly columns: SharedColumns;
  readonly value: Json | undefined;
  readonly version: number;
  readonly written: boolean;
}

/** Converts the rows of a user and of the app. */
export function toSharedState(rows: readonly Omit<SharedRow, 'app'>[]): SharedState {
  const entries: [string, Json][] = [];
  const versions: [string, number][] = [];
  for (const { user_id: user, name, value, version } of rows) {
    const key = formatStateKey(user === '' ? 'app' : 'user', name);
    if (value !== null) entries.push([key, parseStoredJson(value)]);
    versions.push([key, version]);
  }
  return { entries: Object.fromEntries(entries), versions: Object.fromEntries(versions) };
}

/** Lists the scopes of the shared keys of these steps, for `lockScopes`. */
export function listSharedScopes(steps: readonly SettledStep[]): readonly string[] {
  return [
    ...new Set(
      steps.flatMap((step) =>
        listSharedKeys(step).map((key) =>
          JSON.stringify(toSharedColumns(step.key, key).slice(0, 2)),
        ),
      ),
    ),
  ];
}

/** The shared state that the steps of one transaction read and write. */
export class SharedValues {
  readonly #values: Map<string, SharedValue>;

  private constructor(values: Map<string, SharedValue>) {
    this.#values = values;
  }

  /** Reads the shared keys of these steps. */
  static async read<Q>(
    queries: Q,
    statements: SharedStatements<Q>,
    steps: readonly SettledStep[],
  ): Promise<SharedValues> {
    const columnsByName = new Map(
      steps.flatMap((step) =>
        listSharedKeys(step).map((key) => {
          const columns = toSharedColumns(step.key, key);
          return [columns.join('\0'), columns] as const;
        }),
      ),
    );
    if (columnsByName.size === 0) return new SharedValues(new Map());
    const rows = await statements.readShared(queries, [...columnsByName.values()]);
    const values = rows.map(({ app, user_id: user, name, value, version }) => {
      const columns = [app, user, name] as const;
      const parsed = value === null ? undefined : parseStoredJson(value);
      return [columns.join('\0'), { columns, value: parsed, version, written: false }] as const;
    });
    return new SharedValues(new Map(values));
  }

  /** The rows that the applied steps changed. */
  get written(): readonly SharedRow[] {
    return [...this.#values.values()].flatMap(({ columns, value, version, written }) => {
      const [app, user, name] = columns;
      const text = value === undefined ? null : JSON.stringify(value);
      return written ? [{ app, user_id: user, name, value: text, version }] : [];
    });
  }

  /** Lists the shared keys whose version changed after the step read them. */
  findChangedKeys(step: SettledStep): readonly string[] {
    return listConflicts(step.shared?.reads ?? {}, (key) => this.#get(step, key).version);
  }

  /** Applies the shared writes of a step. `written` then has them. */
  apply(step: SettledStep): void {
    if (step.shared === undefined) return;
    const written = writtenValues(step.shared.writes, (key) => this.#get(step, key).value);
    for (const [key, value] of written) {
      const { columns, version } = this.#get(step, key);
      const changed = { columns, value, version: version + 1, written: true };
      this.#values.set(columns.join('\0'), changed);
    }
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
