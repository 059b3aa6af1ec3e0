import type { SessionKey } from '../../core/index.ts';
import { CHILD_REGEX } from '../encoding/child-session-pattern.ts';
import { toMapKey } from '../encoding/map-key.ts';
import { parsePosition } from '../rules/parse-position.ts';
import { hasActivitySql, ROW_STATUS_SQL, type StatusCount } from '../rules/row-status.ts';
import type { ListPosition } from '../server/server-tables.ts';
import {
  SESSION_COLUMNS,
  toKeyParameters,
  toSessionKey,
  type FullRow,
  type NewSession,
} from '../server/session-row.ts';
import type { SessionCountFilter, SessionFilter, UserQuery } from '../store.ts';
import type { Queries } from './queries.ts';
import { IS_ROOT } from './schema.ts';

/**
 * The columns of a `FullRow`, from `sessions AS s`. Named, because a statement that a connection has prepared with `*`
 * fails when another process adds a column.
 */
export const FULL_ROW: string = SESSION_COLUMNS.map((name) => `s.${name}`).join(', ');

/** The rows of sessions. */
export class SessionRows {
  readonly #schema: string;

  constructor(schema: string) {
    this.#schema = schema;
  }

  async find(queries: Queries, key: SessionKey): Promise<FullRow | undefined> {
    const [row] = await queries.rows<FullRow>(
      `SELECT ${FULL_ROW} FROM ${this.#schema}.sessions AS s WHERE app = $1 AND user_id = $2 AND name = $3`,
      toKeyParameters(key),
    );
    return row;
  }

  /**
   * Reads and locks the existing rows of these sessions, in the order of their ids. Never waits: a row that another
   * client has locked fails the statement, or is left out with `skip`.
   */
  async lockAll(
    queries: Queries,
    keys: readonly SessionKey[],
    ifLocked: 'fail' | 'skip',
  ): Promise<readonly FullRow[]> {
    const lock = async (): Promise<readonly FullRow[]> => this.#lockAll(queries, keys, ifLocked);
    return ifLocked === 'skip' ? lock() : this.#lockUntilFound(queries, keys, lock);
  }

  async #lockAll(
    queries: Queries,
    keys: readonly SessionKey[],
    ifLocked: 'fail' | 'skip',
  ): Promise<readonly FullRow[]> {
    return queries.rows<FullRow>(
      `SELECT ${FULL_ROW} FROM ${this.#schema}.sessions AS s
       WHERE (s.app, s.user_id, s.name) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::text[]))
       ORDER BY s.id FOR UPDATE ${ifLocked === 'fail' ? 'NOWAIT' : 'SKIP LOCKED'}`,
      [
        keys.map(({ appName }) => appName),
        keys.map(({ userId }) => userId),
        keys.map(({ sessionId }) => sessionId),
      ],
    );
  }

  /** Reads and locks a session and the sessions of agents that it called, in the order of their ids. Never waits. */
  async lockFamily(queries: Queries, key: SessionKey): Promise<readonly FullRow[]> {
    return this.#lockUntilFound(queries, [key], async () => this.#lockFamily(queries, key));
  }

  /**
   * Repeats a statement that locks rows while it leaves out a session that exists. A session that was replaced has a new
   * row, which a statement that began before does not see, and the old row is gone when it wants to lock it.
   */
  async #lockUntilFound(
    queries: Queries,
    keys: readonly SessionKey[],
    lock: () => Promise<readonly FullRow[]>,
  ): Promise<readonly FullRow[]> {
    for (;;) {
      const rows = await lock();
      const found = new Set(rows.map((row) => toMapKey(toSessionKey(row))));
      const missing = keys.filter((key) => !found.has(toMapKey(key)));
      if (missing.length === 0 || (await this.listExisting(queries, missing)).length === 0)
        return rows;
    }
  }

  async #lockFamily(queries: Queries, key: SessionKey): Promise<readonly FullRow[]> {
    return queries.rows<FullRow>(
      `SELECT ${FULL_ROW} FROM ${this.#schema}.sessions AS s
       WHERE s.app = $1 AND s.user_id = $2 AND (s.name = $3 OR ${isChildSql('$3', '$4')})
       ORDER BY s.id FOR UPDATE NOWAIT`,
      [...toKeyParameters(key), `^${CHILD_REGEX}`],
    );
  }

  /** Lists those of the sessions that exist, locked or not. */
  async listExisting(
    queries: Queries,
    keys: readonly SessionKey[],
  ): Promise<readonly SessionKey[]> {
    if (keys.length === 0) return [];
    const rows = await queries.rows<Pick<FullRow, 'app' | 'user_id' | 'name'>>(
      `SELECT s.app, s.user_id, s.name FROM ${this.#schema}.sessions AS s
       WHERE (s.app, s.user_id, s.name) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::text[]))`,
      [
        keys.map(({ appName }) => appName),
        keys.map(({ userId }) => userId),
        keys.map(({ sessionId }) => sessionId),
      ],
    );
    return rows.map(toSessionKey);
  }

  /** True when the session existed and was deleted. */
  async wasDeleted(queries: Queries, key: SessionKey): Promise<boolean> {
    const buried = await queries.rows(
      `SELECT 1 FROM ${this.#schema}.tombstones WHERE app = $1 AND user_id = $2 AND name = $3`,
      toKeyParameters(key),
    );
    return buried.length > 0;
  }

  /** Inserts a row and returns it. Undefined when the session exists already. */
  async insert(queries: Queries, key: SessionKey, init: NewSession): Promise<FullRow | undefined> {
    const [row] = await queries.rows<FullRow>(
      `WITH unburied AS (
         DELETE FROM ${this.#schema}.tombstones WHERE app = $1 AND user_id = $2 AND name = $3)
       INSERT INTO ${this.#schema}.sessions AS s (app, user_id, name, uid, agent, owner, epoch, head, last_seq, last_record,
         last_input, inbox_up_to, status, in_flight, failures, net_hash, created_at, updated_at, next_due_at, changed, created)
       VALUES ($1, $2, $3, $4, $5, $6, 1, 0, 0, 0, 0, 0, 'idle', 0, 0, $7, $8, $8, $9, pg_current_xact_id(),
         pg_current_xact_id())
       ON CONFLICT (app, user_id, name) DO NOTHING RETURNING ${FULL_ROW}`,
      [
        ...toKeyParameters(key),
        init.uid,
        init.agent,
        init.owner,
        init.netHash,
        init.at,
        init.nextDueAt ?? null,
      ],
    );
    return row;
  }

  /** @param after the sort columns of the session that the list continues after */
  async list(
    queries: Queries,
    filter: SessionFilter,
    after: Partial<ListPosition> | undefined,
  ): Promise<readonly FullRow[]> {
    const { appName, userId, order, direction } = filter;
    const limit = filter.limit === undefined ? null : parsePosition(filter.limit, 'limit');
    const columns: readonly (keyof ListPosition)[] =
      order === 'created'
        ? [
            'created_at',
            'name',
            ...(userId === undefined ? (['user_id'] as const) : []),
            ...(appName === undefined ? (['app'] as const) : []),
          ]
        : ['updated_at', 'id'];
    const [operator, keyword] = direction === 'ascending' ? ['>', 'ASC'] : ['<', 'DESC'];
    const values: unknown[] = [];
    const parameter = (value: unknown): string => `$${values.push(value)}`;
    const where = [
      ...listConditions(filter, parameter),
      ...(after === undefined
        ? []
        : [
            `(${columns.map((name) => `s.${name}`).join(', ')}) ${operator} (${columns.map((name) => parameter(after[name])).join(', ')})`,
          ]),
    ];
    return queries.rows<FullRow>(
      `SELECT ${FULL_ROW} FROM ${this.#schema}.sessions AS s WHERE ${where.join(' AND ') || 'true'}
       ORDER BY ${columns.map((name) => `s.${name} ${keyword}`).join(', ')} LIMIT ${parameter(limit)}`,
      values,
    );
  }

  async count(queries: Queries, filter: SessionCountFilter): Promise<readonly StatusCount[]> {
    const values: unknown[] = [];
    const where = listConditions(filter, (value) => `$${values.push(value)}`);
    return queries.rows<StatusCount>(
      `SELECT ${ROW_STATUS_SQL} AS status, count(*)::float8 AS count FROM ${this.#schema}.sessions AS s
       WHERE ${where.join(' AND ') || 'true'} GROUP BY 1`,
      values,
    );
  }

  async countBytes(queries: Queries, filter: SessionCountFilter): Promise<number> {
    const values: unknown[] = [];
    const where = listConditions(filter, (value) => `$${values.push(value)}`);
    const [row] = await queries.rows<{ bytes: number }>(
      `SELECT coalesce(sum(s.bytes), 0)::float8 AS bytes FROM ${this.#schema}.sessions AS s
       WHERE ${where.join(' AND ') || 'true'}`,
      values,
    );
    return row?.bytes ?? 0;
  }

  async listUsers(
    queries: Queries,
    { appName, withDeleted = false }: UserQuery,
  ): Promise<readonly string[]> {
    const tables = withDeleted ? ['sessions', 'tombstones'] : ['sessions'];
    const users = tables.map(
      (table) => `SELECT user_id AS name FROM ${this.#schema}.${table} WHERE app = $1`,
    );
    const rows = await queries.rows<{ name: string }>(
      `SELECT DISTINCT name FROM (${users.join(' UNION ALL ')}) AS users ORDER BY name`,
      [appName],
    );
    return rows.map(({ name }) => name);
  }
}

/** Conditions of the given filters only, so that an index can serve an app and a user. */
function listConditions(
  { appName, userId, agent, parent, status, activity }: SessionCountFilter,
  parameter: (value: unknown) => string,
): readonly string[] {
  return [
    ...(appName === undefined ? [] : [`s.app = ${parameter(appName)}`]),
    ...(userId === undefined ? [] : [`s.user_id = ${parameter(userId)}`]),
    ...(agent === undefined ? [] : [`s.agent = ${parameter(agent)}`]),
    ...(status === undefined ? [] : [`${ROW_STATUS_SQL} = ${parameter(status)}`]),
    ...(activity === undefined ? [] : [hasActivitySql(parameter(activity))]),
    // The pattern is no parameter, because it must equal that of the index.
    ...(parent === null ? [`s.${IS_ROOT}`] : []),
    ...(typeof parent === 'string'
      ? [isChildSql(parameter(parent), parameter(`^${CHILD_REGEX}`))]
      : []),
  ];
}

/** A condition for the sessions of agents that `parent` called. Both arguments are placeholders of a query. */
function isChildSql(parent: string, pattern: string): string {
  return `(starts_with(s.name, ${parent}::text) AND substr(s.name, length(${parent}::text) + 1) ~ ${pattern})`;
}
