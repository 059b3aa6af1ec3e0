import { formatSessionKey } from '../../../core/index.ts';
import type { SessionId, SessionKey } from '../../../core/index.ts';
import { CHILD_GLOB } from '../../encoding/child-session-pattern.ts';
import { parsePosition } from '../../rules/parse-position.ts';
import { checkSessionFilter } from '../../rules/list-filters.ts';
import { MAX_HYDRATION_FAILURES } from '../../rules/quarantine.ts';
import { LOOK_AHEAD_MS } from '../../rules/runnable-position.ts';
import {
  hasActivitySql,
  ROW_STATUS_SQL,
  toSessionCounts,
  type StatusCount,
} from '../../rules/row-status.ts';
import { advanceEnd } from '../../rules/step-rules.ts';
import { fromSessionColumns, type CommonSessionColumns } from '../../rules/session-row-columns.ts';
import { SessionNotFoundError } from '../../store-errors.ts';
import type {
  InputSeq,
  OwnerId,
  RunnablePage,
  RunnableQuery,
  SessionCountFilter,
  SessionCounts,
  SessionFilter,
  SessionRow,
  SettledStep,
  StoredPendingCall,
  UserQuery,
} from '../../store.ts';
import type { BlobTable } from './blob-table.ts';
import type { Connection, Statement } from '../database/connection.ts';
import type { Packed } from '../database/packed-json.ts';
import { IN_FLIGHT, IS_ROOT, ITEM_BITS } from '../database/schema.ts';

/** The columns of a session that a commit checks and advances. */
export interface SessionHead {
  readonly id: number;
  readonly uid: string;
  readonly owner: OwnerId | null;
  readonly epoch: number;
  readonly head: number;
  readonly lastSeq: number;
  readonly lastRecord: number;
  readonly inboxUpTo: InputSeq;
  readonly workAt: number | null;
  readonly failures: number;
  readonly agent: string;
  readonly pending: Packed<readonly StoredPendingCall[]> | null;
}

interface FullRow extends CommonSessionColumns {
  readonly id: number;
  readonly app: string;
  readonly user: string;
  readonly name: string;
  readonly pending: Packed<readonly StoredPendingCall[]> | null;
  readonly unread: number;
}

const IS_UNREAD = `
  EXISTS (SELECT 1 FROM inbox WHERE inbox.id > s.id << ${ITEM_BITS} AND inbox.id < (s.id + 1) << ${ITEM_BITS})`;

/** The columns of a `SessionRow`, from `sessions AS s`. */
const FULL_ROW = `
  s.id, s.app, s.user, s.name, s.uid, s.agent, s.owner, s.epoch, s.head, s.last_seq, s.status, s.phase, s.in_flight,
  s.next_due_at, s.failures, s.net_hash, s.pending, s.created_at, s.updated_at,
  ${IS_UNREAD} AS unread`;

/** The number of the next change of any session. Computed before a statement that removes the newest change. */
const NEXT_CHANGE = `(1 + max(
  coalesce((SELECT max(changed) FROM sessions), 0), coalesce((SELECT max(changed) FROM tombstones), 0)))`;

// The second parameter accepts any agent. The list does not depend on the row, so SQLite builds it only once.
const OWNED_HERE_OR_UNOWNED = `
  (s.agent IN (SELECT value FROM json_each(?)) OR ?) AND s.failures < ${MAX_HYDRATION_FAILURES}
  AND (s.owner IS NULL OR s.owner NOT IN (SELECT value FROM json_each(?)))`;

// The range lets SQLite use the index of the key. "0" is the character after "/".
const IS_CHILD = 's.name > ? AND s.name < ? AND substr(s.name, length(?) + 1) GLOB ?';

function childParameters(parent: SessionId): readonly string[] {
  return [`${parent}/`, `${parent}0`, parent, CHILD_GLOB];
}

/** The time since which a session has work, as `toRunnablePosition` computes it. */
const SINCE = 'CASE WHEN r.in_flight > 0 OR r.unread THEN r.updated_at ELSE r.next_due_at END';

/** The sessions with unread input, by a skip scan of the inbox. */
const UNREAD = `unread (session) AS (
      SELECT (SELECT id >> ${ITEM_BITS} FROM inbox ORDER BY id LIMIT 1)
      UNION ALL
      SELECT (SELECT id >> ${ITEM_BITS} FROM inbox WHERE id >= (session + 1) << ${ITEM_BITS} ORDER BY id LIMIT 1)
      FROM unread WHERE session IS NOT NULL
    )`;

/** Whether a session has unread input and one of these owners or none, or effects in flight and no owner. */
export const HAS_WORK: string = `
  WITH RECURSIVE ${UNREAD}
  SELECT 1 AS found WHERE EXISTS (
    SELECT 1 FROM unread JOIN sessions AS s ON s.id = unread.session
    WHERE s.owner IS NULL OR s.owner IN (SELECT value FROM json_each(?)))
  OR EXISTS (
    SELECT 1 FROM sessions INDEXED BY sessions_with_work WHERE work_at = ${IN_FLIGHT} AND owner IS NULL)`;

/**
 * Finds sessions due by a time, by the index of sessions with work, and sessions with unread input, by a skip scan of
 * the inbox.
 */
export const FIND_RUNNABLE: string = `
  WITH RECURSIVE
    ${UNREAD},
    candidates (id) AS (
      SELECT id FROM sessions INDEXED BY sessions_with_work WHERE work_at <= ?
      UNION
      SELECT session FROM unread WHERE session IS NOT NULL
    )
  SELECT r.* FROM (
    SELECT ${FULL_ROW} FROM candidates JOIN sessions AS s ON s.id = candidates.id
    WHERE s.app = coalesce(?, s.app) AND ${OWNED_HERE_OR_UNOWNED}) AS r
  WHERE (${SINCE}, r.app, r.user, r.name) > (?, ?, ?, ?)
  ORDER BY ${SINCE}, r.app, r.user, r.name LIMIT ?`;

/**
 * The first timer between two times, of sessions without unread inputs, by the same index. Sessions with effects in
 * flight are before all times in it.
 */
export const NEXT_DUE_AT: string = `
  SELECT s.next_due_at AS due FROM sessions AS s INDEXED BY sessions_with_work
  WHERE s.work_at > ? AND s.work_at <= ? AND s.app = coalesce(?, s.app) AND ${OWNED_HERE_OR_UNOWNED}
    AND NOT ${IS_UNREAD}
  ORDER BY s.work_at LIMIT 1`;

/** A position before all sessions. */
const BEFORE_ALL = [-Number.MAX_SAFE_INTEGER, '', '', ''] as const;

/** The values of the sort columns of a list, by column. */
type ListPosition = Readonly<Record<string, string | number>>;

/**
 * Selects a list of sessions after a position. The last parameter is the limit. It has the conditions of the given
 * filters only, so that SQLite can use an index for an app and a user.
 */
export function listSessionsSql(filter: SessionFilter, after: ListPosition | undefined): Condition {
  const { appName, userId, order, direction } = filter;
  const columns =
    order === 'created'
      ? [
          'created_at',
          'name',
          ...(userId === undefined ? ['user'] : []),
          ...(appName === undefined ? ['app'] : []),
        ]
      : ['updated_at', 'id'];
  const [operator, keyword] = direction === 'ascending' ? ['>', 'ASC'] : ['<', 'DESC'];
  const where = listConditions(filter);
  if (after !== undefined)
    where.push({
      sql: `(${columns.map((name) => `s.${name}`).join(', ')}) ${operator} (${columns.map(() => '?').join(', ')})`,
      values: columns.flatMap((name) => after[name] ?? []),
    });
  const sql = `
    SELECT ${FULL_ROW} FROM sessions AS s WHERE ${where.map((one) => one.sql).join(' AND ') || 'true'}
    ORDER BY ${columns.map((name) => `s.${name} ${keyword}`).join(', ')} LIMIT ?`;
  return { sql, values: where.flatMap(({ values }) => values) };
}

/** SQL with the values of its parameters. */
interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

function listConditions({
  appName,
  userId,
  agent,
  parent,
  status,
  activity,
}: SessionCountFilter): Condition[] {
  const where: Condition[] = [];
  if (appName !== undefined) where.push({ sql: 's.app = ?', values: [appName] });
  if (userId !== undefined) where.push({ sql: 's.user = ?', values: [userId] });
  if (agent !== undefined) where.push({ sql: 's.agent = ?', values: [agent] });
  if (status !== undefined) where.push({ sql: `${ROW_STATUS_SQL} = ?`, values: [status] });
  if (activity !== undefined) where.push({ sql: hasActivitySql('?'), values: [activity] });
  // The pattern is no parameter, because it must equal that of the index.
  if (parent === null) where.push({ sql: `s.${IS_ROOT}`, values: [] });
  else if (parent !== undefined) where.push({ sql: IS_CHILD, values: childParameters(parent) });
  return where;
}

/** The rows of sessions. */
export class SessionTable {
  readonly #connection: Connection;
  readonly #blobs: BlobTable;
  readonly #head: Statement<SessionHead>;
  readonly #find: Statement<FullRow>;
  readonly #position: Statement<{ id: number; updated_at: number }>;
  readonly #insert: Statement<never>;
  readonly #setOwner: Statement<never>;
  readonly #advance: Statement<never>;
  readonly #advanceWithWork: Statement<never>;
  readonly #renumber: Statement<never>;
  readonly #fail: Statement<never>;
  readonly #touch: Statement<never>;
  readonly #remove: Statement<never>;
  readonly #bury: Statement<never>;
  readonly #unbury: Statement<never>;
  readonly #buried: Statement<object>;
  readonly #addBytes: Statement<never>;
  readonly #children: Statement<{ name: string }>;
  readonly #findRunnable: Statement<FullRow>;
  readonly #hasWork: Statement<object>;
  readonly #nextDueAt: Statement<{ due: number | null }>;

  constructor(connection: Connection, blobs: BlobTable) {
    this.#connection = connection;
    this.#blobs = blobs;
    const byKey = 'app = ? AND user = ? AND name = ?';
    this.#head = connection.prepare(`
      SELECT id, uid, owner, epoch, head, last_seq AS lastSeq, last_record AS lastRecord, inbox_up_to AS inboxUpTo,
        work_at AS workAt, failures, agent, pending FROM sessions WHERE ${byKey}`);
    this.#find = connection.prepare(`SELECT ${FULL_ROW} FROM sessions AS s WHERE ${byKey}`);
    this.#position = connection.prepare(`SELECT id, updated_at FROM sessions WHERE ${byKey}`);
    this.#insert = connection.prepare(`
      INSERT INTO sessions (app, user, name, uid, agent, owner, epoch, head, last_seq, last_record, inbox_up_to, status,
        in_flight, failures, net_hash, created_at, updated_at, next_due_at, work_at, changed, created)
      SELECT ?, ?, ?, ?, ?, ?, 1, 0, 0, 0, 0, 'idle', 0, 0, ?, ?, ?, ?, ?, change, change FROM (SELECT ${NEXT_CHANGE} AS change)`);
    this.#addBytes = connection.prepare(
      'UPDATE sessions SET bytes = max(0, bytes + ?) WHERE id = ?',
    );
    this.#setOwner = connection.prepare(
      'UPDATE sessions SET owner = ?, epoch = epoch + 1 WHERE id = ?',
    );
    // Two statements, because setting work_at writes a page of its index even if the value is the same.
    const advance = `
      UPDATE sessions SET head = ?, last_seq = ?, last_record = ?, inbox_up_to = ?, status = ?, phase = ?, in_flight = ?,
        next_due_at = ?, net_hash = ?, pending = ?, updated_at = ?, bytes = bytes + ?`;
    this.#advance = connection.prepare(`${advance} WHERE id = ?`);
    this.#advanceWithWork = connection.prepare(`${advance}, work_at = ? WHERE id = ?`);
    // Setting the number writes a page of its index. A session that nobody has read since its last change keeps it.
    this.#renumber = connection.prepare(`
      UPDATE sessions SET changed = ${NEXT_CHANGE} WHERE id = ? AND changed <= (SELECT up_to FROM change_reads)`);
    this.#fail = connection.prepare(
      `UPDATE sessions SET failures = ?, changed = ${NEXT_CHANGE} WHERE id = ?`,
    );
    this.#touch = connection.prepare(`UPDATE sessions SET changed = ${NEXT_CHANGE} WHERE ${byKey}`);
    this.#remove = connection.prepare('DELETE FROM sessions WHERE id = ?');
    this.#bury = connection.prepare(`
      INSERT OR REPLACE INTO tombstones (app, user, name, uid, changed) VALUES (?, ?, ?, ?, ${NEXT_CHANGE})`);
    this.#unbury = connection.prepare(`DELETE FROM tombstones WHERE ${byKey}`);
    this.#buried = connection.prepare(`SELECT 1 FROM tombstones WHERE ${byKey}`);
    this.#children = connection.prepare(
      `SELECT s.name FROM sessions AS s WHERE app = ? AND user = ? AND ${IS_CHILD}`,
    );
    this.#findRunnable = connection.prepare(FIND_RUNNABLE);
    this.#hasWork = connection.prepare(HAS_WORK);
    this.#nextDueAt = connection.prepare(NEXT_DUE_AT);
  }

  head(key: SessionKey): SessionHead | undefined {
    return this.#head.get(key.appName, key.userId, key.sessionId);
  }

  /** @throws SessionNotFoundError */
  getHead(key: SessionKey): SessionHead {
    const head = this.head(key);
    if (head === undefined) throw this.notFound(key);
    return head;
  }

  notFound(key: SessionKey): SessionNotFoundError {
    const buried = this.#buried.get(key.appName, key.userId, key.sessionId) !== undefined;
    return new SessionNotFoundError(key, buried);
  }

  find(key: SessionKey): SessionRow | undefined {
    const row = this.#find.get(key.appName, key.userId, key.sessionId);
    return row === undefined ? undefined : this.#toSessionRow(row);
  }

  /** @throws SessionNotFoundError */
  get(key: SessionKey): SessionRow {
    const row = this.find(key);
    if (row === undefined) throw this.notFound(key);
    return row;
  }

  list(filter: SessionFilter): readonly SessionRow[] {
    checkSessionFilter(filter);
    const limit = filter.limit === undefined ? -1 : parsePosition(filter.limit, 'limit');
    const { sql, values } = listSessionsSql(filter, this.#getListPosition(filter));
    return this.#connection
      .prepare<FullRow>(sql)
      .all(...values, limit)
      .map((row) => this.#toSessionRow(row));
  }

  count(filter: SessionCountFilter): SessionCounts {
    checkSessionFilter(filter);
    const where = listConditions(filter);
    const sql = `
      SELECT ${ROW_STATUS_SQL} AS status, count(*) AS count FROM sessions AS s
      WHERE ${where.map((one) => one.sql).join(' AND ') || 'true'} GROUP BY 1`;
    return toSessionCounts(
      this.#connection.prepare<StatusCount>(sql).all(...where.flatMap(({ values }) => values)),
    );
  }

  countBytes(filter: SessionCountFilter): number {
    checkSessionFilter(filter);
    const where = listConditions(filter);
    const sql = `
      SELECT coalesce(sum(s.bytes), 0) AS bytes FROM sessions AS s
      WHERE ${where.map((one) => one.sql).join(' AND ') || 'true'}`;
    const row = this.#connection
      .prepare<{ bytes: number }>(sql)
      .get(...where.flatMap(({ values }) => values));
    return row?.bytes ?? 0;
  }

  listUsers({ appName, withDeleted = false }: UserQuery): readonly string[] {
    const tables = withDeleted ? ['sessions', 'tombstones'] : ['sessions'];
    const users = tables.map((table) => `SELECT user AS name FROM ${table} WHERE app = ?`);
    return this.#connection
      .prepare<{ name: string }>(
        `SELECT DISTINCT name FROM (${users.join(' UNION ALL ')}) ORDER BY name`,
      )
      .all(...tables.map(() => appName))
      .map(({ name }) => name);
  }

  /** Lists the sessions of agents that this session called. */
  children({ appName, userId, sessionId }: SessionKey): readonly SessionKey[] {
    return this.#children
      .all(appName, userId, ...childParameters(sessionId))
      .map(({ name }) => ({ appName, userId, sessionId: name }));
  }

  insert(
    key: SessionKey,
    init: {
      readonly uid: string;
      readonly agent: string;
      readonly owner: OwnerId;
      readonly at: number;
      readonly netHash: string;
      readonly nextDueAt?: number;
    },
  ): void {
    const { at, nextDueAt: due = null } = init;
    const names = [key.appName, key.userId, key.sessionId];
    // The tombstone may have the newest change, so it is removed last.
    this.#insert.run(...names, init.uid, init.agent, init.owner, init.netHash, at, at, due, due);
    this.#unbury.run(...names);
  }

  /** Sets or clears the owner, and increases the epoch. */
  setOwner(id: number, owner: OwnerId | null): void {
    this.#setOwner.run(owner, id);
  }

  /**
   * Advances the session by a step that has been checked.
   * @param inboxUpTo the last input that the step consumes or accepts
   */
  advance(
    head: SessionHead,
    step: SettledStep,
    {
      pending,
      bytes,
    }: {
      readonly pending: Packed<readonly StoredPendingCall[]> | null;
      readonly bytes: number;
    },
    inboxUpTo: InputSeq,
  ): void {
    const { summary } = step;
    const workAt = summary.inFlight > 0 ? IN_FLIGHT : summary.nextDueAt;
    const { lastRecord, lastSeq } = advanceEnd(step, head);
    const values = [
      step.step,
      lastSeq,
      lastRecord,
      Math.max(head.inboxUpTo, inboxUpTo),
      summary.activity,
      summary.status,
      summary.inFlight,
      summary.nextDueAt,
      summary.netHash,
      pending,
      step.at,
      bytes,
    ];
    if (workAt === head.workAt) this.#advance.run(...values, head.id);
    else this.#advanceWithWork.run(...values, workAt, head.id);
    this.#renumber.run(head.id);
  }

  /** Adds to the bytes of the session's journal and log. */
  addBytes(id: number, bytes: number): void {
    this.#addBytes.run(bytes, id);
  }

  /** Sets the number of failed attempts in a row to load the session. */
  setFailures(id: number, failures: number): void {
    this.#fail.run(failures, id);
  }

  /** Makes the session the newest change. Returns false when there is no such session. */
  touch({ appName, userId, sessionId }: SessionKey): boolean {
    return Number(this.#touch.run(appName, userId, sessionId).changes) > 0;
  }

  /** Removes the row of a session and adds a tombstone. */
  remove(key: SessionKey, head: SessionHead): void {
    // The row may have the newest change, so it is removed last.
    this.#bury.run(key.appName, key.userId, key.sessionId, head.uid);
    this.#remove.run(head.id);
  }

  /** Clears the owner of a session that was imported, and sets its failed attempts. */
  release(id: number, failures: number): void {
    this.#setOwner.run(null, id);
    if (failures > 0) this.setFailures(id, failures);
  }

  /** True if a session of one of these owners, or of none, has unread input or was given away in the middle of its work. */
  hasWorkFor(owners: readonly OwnerId[]): boolean {
    return this.#hasWork.get(JSON.stringify(owners)) !== undefined;
  }

  findRunnable(
    query: Omit<RunnableQuery, 'owner'> & { readonly exceptOwners: readonly OwnerId[] },
  ): RunnablePage {
    const { now, appName = null, after } = query;
    const limit = parsePosition(query.limit, 'limit');
    const position =
      after === undefined
        ? BEFORE_ALL
        : [after.since, after.key.appName, after.key.userId, after.key.sessionId];
    const filter = toFilterParameters(query);
    const sessions = this.#findRunnable
      .all(now, appName, ...filter, ...position, limit)
      .map((row) => this.#toSessionRow(row));
    const next = this.#nextDueAt.get(now, now + LOOK_AHEAD_MS, appName, ...filter);
    return { sessions, nextDueAt: next?.due ?? undefined };
  }

  /** The values of the sort columns in the session that a list continues after. */
  #getListPosition(filter: SessionFilter): ListPosition | undefined {
    if (filter.after === undefined) return undefined;
    if (filter.order === 'created') {
      const { createdAt, key } = filter.after;
      return { created_at: createdAt, app: key.appName, user: key.userId, name: key.sessionId };
    }
    const { appName, userId, sessionId } = filter.after;
    const position = this.#position.get(appName, userId, sessionId);
    if (position === undefined) throw this.notFound(filter.after);
    return { ...position };
  }

  #toSessionRow(row: FullRow): SessionRow {
    const key: SessionKey = { appName: row.app, userId: row.user, sessionId: row.name };
    const pending = this.unpackPending(key, row.pending);
    return fromSessionColumns(row, { key, pending, inboxPending: row.unread === 1 });
  }

  unpackPending(
    key: SessionKey,
    packed: Packed<readonly StoredPendingCall[]> | null,
  ): readonly StoredPendingCall[] {
    if (packed === null) return [];
    return this.#blobs.unpack(packed, `the pending calls of session ${formatSessionKey(key)}`);
  }
}

/** Builds the parameters of `OWNED_HERE_OR_UNOWNED`. */
function toFilterParameters(query: {
  readonly agents?: readonly string[];
  readonly exceptOwners: readonly OwnerId[];
}): readonly [agents: string, anyAgent: number, exceptOwners: string] {
  const { agents, exceptOwners } = query;
  return [JSON.stringify(agents ?? []), agents === undefined ? 1 : 0, JSON.stringify(exceptOwners)];
}
