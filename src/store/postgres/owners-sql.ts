/** Selects all owners, with the columns of `OwnerRow`. */
export function ownersSql(schema: string): string {
  return `SELECT o.name, o.lock, ${isLockHeldSql(schema)} AS held,
      (extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) * 1000)::float8 AS "uptimeMs"
    FROM ${schema}.owners AS o`;
}

/** The key of an advisory lock. Locks are per database, so the oid of the table separates those of two schemas. */
export function lockKey(schema: string, lock: string): string {
  return `('${schema}.owners'::regclass::oid::bigint << 32) | ${lock}`;
}

function isLockHeldSql(schema: string): string {
  return `EXISTS (
    SELECT 1 FROM pg_locks AS l
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.objid::bigint = o.lock
      AND l.classid = '${schema}.owners'::regclass::oid
      AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))`;
}
