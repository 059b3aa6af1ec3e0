import type { SessionActivity, SessionKey } from '../../core/index.ts';
import { CHILD_REGEX } from '../encoding/child-session-pattern.ts';
import { checkSessionFilter } from '../rules/list-filters.ts';
import { parsePosition } from '../rules/parse-position.ts';
import { hasActivitySql, ROW_STATUS_SQL, toRowStatus } from '../rules/row-status.ts';
import { SessionNotFoundError } from '../store-errors.ts';
import type { InputSeq, OwnerId, StoredPendingCall, SessionFilter, SessionRow } from '../store.ts';
import type { Queries } from './database.ts';
import { IS_ROOT } from './schema.ts';

/** A row of the table `sessions`. */
export interface FullRow {
  readonly id: number;
  readonly app: string;
  readonly user_id: string;
  readonly name: string;
  readonly uid: string;
  readonly agent: string;
  readonly owner: OwnerId | null;
  readonly epoch: number;
  readonly head: number;
  readonly last_seq: number;
  readonly last_record: number;
  readonly last_input: InputSeq;
  readonly inbox_up_to: InputSeq;
  /** The activity. */
  readonly status: SessionActivity;
  /** The status. Null: no step has set it, or an earlier release wrote the row. */
  readonly phase: string | null;
  readonly in_flight: number;
  readonly next_due_at: number | null;
  readonly failures: number;
  readonly net_hash: string;
  readonly pending: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

/** The columns by which lists are sorted. */
type ListPosition = Pick<FullRow, 'created_at' | 'updated_at' | 'app' | 'user_id' | 'name' | 'id'>;

const COLUMN_NAMES = [
  'id',
  'app',
  'user_id',
  'name',
  'uid',
  'agent',
  'owner',
  'epoch',
  'head',
  'last_seq',
  'last_record',
  'last_input',
  'inbox_up_to',
  'status',
  'phase',
  'in_flight',
  'next_due_at',
  'failures',
  'net_hash',
  'pending',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof FullRow)[];

/**
 * The columns of a `FullRow`, from `sessions AS s`. Named, because a statement that a connection has prepared with `*`
 * fails when another process adds a column.
 */
export const FULL_ROW: string = COLUMN_NAMES.map((name) => `s.${name}`).join(', ');

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

  /** @throws SessionNotFoundError */
  async get(queries: Queries, key: SessionKey): Promise<FullRow> {
    const row = await this.find(queries, key);
    if (row === undefined) throw await this.notFound(queries, key);
    return row;
  }

  /** Reads a row and locks it until the transaction ends. @throws SessionNotFoundError */
  async lock(queries: Queries, key: SessionKey): Promise<FullRow> {
    const [row] = await this.lockAll(queries, [key]);
    if (row === undefined) throw await this.notFound(queries, key);
    return row;
  }

  /**
   * Reads and locks the existing rows of these sessions, in the order of their ids. Never waits: a row that another
   * client has locked fails the statement, or is left out with `skip`.
   */
  async lockAll(
    queries: Queries,
    keys: readonly SessionKey[],
    ifLocked: 'fail' | 'skip' = 'fail',
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

  async notFound(queries: Queries, key: SessionKey): Promise<SessionNotFoundError> {
    const buried = await queries.rows(
      `SELECT 1 FROM ${this.#schema}.tombstones WHERE app = $1 AND user_id = $2 AND name = $3`,
      toKeyParameters(key),
    );
    return new SessionNotFoundError(key, buried.length > 0);
  }

  /** Inserts a row and returns it. Undefined when the session exists already. */
  async insert(
    queries: Queries,
    key: SessionKey,
    init: {
      readonly uid: string;
      readonly agent: string;
      readonly owner: OwnerId;
      readonly at: number;
      readonly netHash: string;
    },
  ): Promise<FullRow | undefined> {
    const [row] = await queries.rows<FullRow>(
      `WITH unburied AS (
         DELETE FROM ${this.#schema}.tombstones WHERE app = $1 AND user_id = $2 AND name = $3)
       INSERT INTO ${this.#schema}.sessions AS s (app, user_id, name, uid, agent, owner, epoch, head, last_seq, last_record,
         last_input, inbox_up_to, status, in_flight, failures, net_hash, created_at, updated_at, changed, created)
       VALUES ($1, $2, $3, $4, $5, $6, 1, 0, 0, 0, 0, 0, 'idle', 0, 0, $7, $8, $8, pg_current_xact_id(),
         pg_current_xact_id())
       ON CONFLICT (app, user_id, name) DO NOTHING RETURNING ${FULL_ROW}`,
      [...toKeyParameters(key), init.uid, init.agent, init.owner, init.netHash, init.at],
    );
    return row;
  }

  /**
   * Lists sessions. Default: last changed first.
   * @throws SessionNotFoundError when the order is `changed` and the session of `after` does not exist any more
   */
  async list(queries: Queries, filter: SessionFilter): Promise<readonly FullRow[]> {
    checkSessionFilter(filter);
    const { appName, userId, agent, parent, status, activity, order, direction } = filter;
    const limit = filter.limit === undefined ? null : parsePosition(filter.limit, 'limit');
    const after = await this.#getListPosition(queries, filter);
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
    // Built from the given filters only, so that an index can serve an app and a user.
    const values: unknown[] = [];
    const parameter = (value: unknown): string => `$${values.push(value)}`;
    const where = [
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

  /** The values of the sort columns in the session that a list continues after. */
  async #getListPosition(
    queries: Queries,
    filter: SessionFilter,
  ): Promise<Partial<ListPosition> | undefined> {
    if (filter.after === undefined) return undefined;
    if (filter.order !== 'created') return this.get(queries, filter.after);
    const { createdAt, key } = filter.after;
    return {
      created_at: createdAt,
      app: key.appName,
      user_id: key.userId,
      name: key.sessionId,
    };
  }
}

/** A condition for the sessions of agents that `parent` called. Both arguments are placeholders of a query. */
function isChildSql(parent: string, pattern: string): string {
  return `(starts_with(s.name, ${parent}::text) AND substr(s.name, length(${parent}::text) + 1) ~ ${pattern})`;
}

/** The parameters that identify a session. */
export function toKeyParameters({ appName, userId, sessionId }: SessionKey): readonly string[] {
  return [appName, userId, sessionId];
}

export function toSessionKey({
  app,
  user_id: userId,
  name,
}: Pick<FullRow, 'app' | 'user_id' | 'name'>): SessionKey {
  return { appName: app, userId, sessionId: name };
}

/** Converts a row of the table to a row of the store interface. */
export function toSessionRow(row: FullRow): SessionRow {
  return {
    key: toSessionKey(row),
    uid: row.uid,
    agent: row.agent,
    owner: row.owner,
    epoch: row.epoch,
    head: row.head,
    lastSeq: row.last_seq,
    status: toRowStatus({
      failures: row.failures,
      lastSeq: row.last_seq,
      activity: row.status,
      status: row.phase,
    }),
    activity: row.status,
    inFlight: row.in_flight,
    nextDueAt: row.next_due_at,
    pending: parsePendingCalls(row),
    netHash: row.net_hash,
    inboxPending: row.last_input > row.inbox_up_to,
    failures: row.failures,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Reads the pending calls of a row. Calls of an older version of the schema have no time. */
export function parsePendingCalls(
  row: Pick<FullRow, 'pending' | 'updated_at'>,
): readonly StoredPendingCall[] {
  if (row.pending === null) return [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by a commit
  const calls = JSON.parse(row.pending) as readonly (Omit<StoredPendingCall, 'since'> & {
    readonly since?: number;
  })[];
  return calls.map((call) => ({ ...call, since: call.since ?? row.updated_at }));
}
