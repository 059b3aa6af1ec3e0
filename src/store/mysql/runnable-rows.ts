import { compareBytes } from '../encoding/compare-bytes.ts';
import { parsePosition } from '../rules/parse-position.ts';
import { LOOK_AHEAD_MS } from '../rules/runnable-position.ts';
import type { OwnerRow } from '../server/owner-failure-detector.ts';
import type { RunnableRows } from '../server/server-tables.ts';
import { toKeyParameters, type FullRow } from '../server/session-row.ts';
import type { OwnerId, RunnablePosition, RunnableQuery } from '../store.ts';
import { toOwnerRows, type OwnerLocks } from './owners-sql.ts';
import { WORK, type TableNames } from './schema.ts';
import { FULL_ROW } from './session-rows.ts';
import type { Reads, SqlValue, SqlStatement } from './statement.ts';

/** How many of the next timers are read in search of one that this owner may run. */
const MAX_TIMERS_AHEAD = 256;

/** A session with the time since which it has work. */
interface FoundRow extends FullRow {
  readonly work_at: number;
}

type Condition = readonly [sql: string, ...values: SqlValue[]];

/**
 * Finds sessions with work. Each kind of work has an index in the order of the list, so a look reads as many rows as it
 * returns, and those of other live owners that have work just now. The sessions in flight, of which a fleet has many all
 * the time, are read for each owner that is not alive, in a second message if there are any.
 */
export async function findRunnable(
  queries: Reads,
  t: TableNames,
  locks: OwnerLocks,
  query: RunnableQuery & { readonly dead: readonly OwnerRow[] },
): Promise<RunnableRows> {
  const limit = parsePosition(query.limit, 'limit');
  const others = otherOwners(t, query);
  const [owned = [], running = [], ahead = [], unread = [], timed = []] = await queries.several([
    locks.read,
    [
      `SELECT DISTINCT owner FROM ${t('sessions')} FORCE INDEX (by_owner_in_flight) WHERE work = ${WORK.inFlight}`,
    ],
    nextTimer(t, query, others),
    list(t, query, limit, [`s.work = ${WORK.unread}`], others),
    list(t, query, limit, [`s.work = ${WORK.timed} AND s.work_at <= ?`, query.now], others),
  ]);
  const owners = toOwnerRows(owned);
  const alive = new Set(
    owners
      .filter(
        ({ name, lock }) =>
          name !== query.owner && !query.dead.some((one) => one.name === name && one.lock === lock),
      )
      .map(({ name }) => name),
  );
  // oxlint-disable typescript/no-unsafe-type-assertion -- the columns of the statements
  const unowned = (running as readonly { readonly owner: OwnerId | null }[]).filter(
    ({ owner }) => owner === null || !alive.has(owner),
  );
  const inFlight =
    unowned.length === 0
      ? []
      : await queries.several(
          unowned.map(({ owner }) =>
            list(t, query, limit, [`s.work = ${WORK.inFlight} AND s.owner <=> ?`, owner]),
          ),
        );
  const rows = [...unread, ...timed, ...inFlight.flat()] as readonly FoundRow[];
  const [next] = ahead as readonly { readonly due: number | null }[];
  // oxlint-enable typescript/no-unsafe-type-assertion
  return { rows: rows.toSorted(byWork).slice(0, limit), due: next?.due ?? null, owners };
}

function list(
  t: TableNames,
  { after, ...query }: RunnableQuery,
  limit: number,
  ...conditions: readonly Condition[]
): SqlStatement {
  const all = [
    ...conditions,
    ...mayRunHere(query),
    ...(after === undefined ? [] : [isBehind(after)]),
  ];
  return [
    `SELECT s.work_at, ${FULL_ROW} FROM ${t('sessions')} AS s WHERE ${all.map(([sql]) => sql).join(' AND ')}
     ORDER BY s.work_at, s.app, s.user_id, s.name LIMIT ?`,
    [...all.flatMap(([, ...values]) => values), limit],
  ];
}

function nextTimer(t: TableNames, query: RunnableQuery, others: Condition): SqlStatement {
  const all = [others, ...mayRunHere(query)];
  return [
    `SELECT MIN(s.work_at) AS due FROM (
       SELECT work_at, owner, agent, app FROM ${t('sessions')}
       WHERE work = ${WORK.timed} AND work_at > ? AND work_at <= ? ORDER BY work_at LIMIT ${MAX_TIMERS_AHEAD}) AS s
     WHERE ${all.map(([sql]) => sql).join(' AND ')}`,
    [query.now, query.now + LOOK_AHEAD_MS, ...all.flatMap(([, ...values]) => values)],
  ];
}

function mayRunHere({ agents, appName }: RunnableQuery): readonly Condition[] {
  const ofAgents: Condition = agents?.length === 0 ? ['FALSE'] : ['s.agent IN (?)', agents ?? []];
  return [
    ...(agents === undefined ? [] : [ofAgents]),
    ...(appName === undefined ? [] : [['s.app = ?', appName] as const]),
  ];
}

/** The condition that no other live owner has the session. An owner in the table that is not known to be dead is alive. */
function otherOwners(
  t: TableNames,
  { owner, dead }: RunnableQuery & { readonly dead: readonly OwnerRow[] },
): Condition {
  const areDead = dead.map(() => '(name = ? AND lock_no = ?)').join(' OR ');
  return [
    `(s.owner IS NULL OR s.owner NOT IN (SELECT name FROM ${t('owners')} WHERE name <> ?${areDead === '' ? '' : ` AND NOT (${areDead})`}))`,
    owner,
    ...dead.flatMap(({ name, lock }) => [name, lock]),
  ];
}

function isBehind({ since, key }: RunnablePosition): Condition {
  return [
    's.work_at >= ? AND (s.work_at, s.app, s.user_id, s.name) > (?, ?, ?, ?)',
    since,
    since,
    ...toKeyParameters(key),
  ];
}

function byWork(one: FoundRow, other: FoundRow): number {
  return (
    one.work_at - other.work_at ||
    compareBytes(one.app, other.app) ||
    compareBytes(one.user_id, other.user_id) ||
    compareBytes(one.name, other.name)
  );
}
