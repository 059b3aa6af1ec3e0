import { InvalidInputError } from '../../core/index.ts';
import { MAX_HYDRATION_FAILURES } from '../rules/quarantine.ts';

/** The schema version that this code uses. */
export const SCHEMA_VERSION = 2;

/** The number of rows whose locks stand for scopes of shared state, and for documents. */
export const LOCK_ROWS = 256;

/** What a session with work waits for: the column `work`. */
export const WORK = { inFlight: 1, unread: 2, timed: 3 } as const;

/** The quoted names of tables. */
export type TableNames = (table: string) => string;

/** Validates the prefix of table names. @throws InvalidInputError */
export function tableNames(prefix: string): TableNames {
  if (/^[a-z_][a-z0-9_]{0,31}$/.test(prefix)) return (table) => `\`${prefix}_${table}\``;
  throw new InvalidInputError(
    'schema',
    `must be at most 32 lowercase letters, digits and _, and not start with a digit; it is "${prefix}".`,
  );
}

/**
 * The statements that migrate schema version `n` to `n + 1`, at index `n`. Each can be repeated, because MySQL commits
 * after each of them.
 */
export function listMigrations(t: TableNames): readonly (readonly string[])[] {
  return [versionOne(t), versionTwo(t)];
}

/** Changes of tables end the transaction, so a migration can stop after one, and has to find the column then. */
function versionTwo(t: TableNames): readonly string[] {
  const table = t('sessions').replaceAll('`', '');
  return [
    // The bytes of records and events. Steps before this version are not counted.
    `SET @change = IF((SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
       AND table_name = '${table}' AND column_name = 'bytes') = 0,
       'ALTER TABLE ${t('sessions')} ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0', 'DO 0');
     PREPARE change_sessions FROM @change; EXECUTE change_sessions; DEALLOCATE PREPARE change_sessions`,
  ];
}

/** Ids are bytes: they are compared byte by byte, and a space at the end counts. */
const ID = 'VARBINARY(512) NOT NULL';
/** JSON text. */
const TEXT = 'LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

function versionOne(t: TableNames): readonly string[] {
  const table = (name: string, columns: string): string =>
    `CREATE TABLE IF NOT EXISTS ${t(name)} (${columns}) ENGINE=InnoDB ROW_FORMAT=DYNAMIC`;
  const { inFlight, unread, timed } = WORK;
  const runnable = `failures < ${MAX_HYDRATION_FAILURES}`;
  return [
    table(
      'sessions',
      `id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      app ${ID}, user_id ${ID}, name ${ID},
      uid ${ID}, agent ${ID}, owner VARBINARY(512),
      epoch BIGINT NOT NULL, head BIGINT NOT NULL, last_seq BIGINT NOT NULL, last_record BIGINT NOT NULL,
      last_input BIGINT NOT NULL, inbox_up_to BIGINT NOT NULL,
      status VARBINARY(32) NOT NULL, phase VARBINARY(32),
      in_flight INT NOT NULL, next_due_at BIGINT, failures INT NOT NULL,
      net_hash ${ID},
      pending ${TEXT},
      created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
      is_root BOOLEAN NOT NULL,
      changed BIGINT NOT NULL DEFAULT 0, created BIGINT NOT NULL DEFAULT 0,
      work TINYINT AS (CASE
        WHEN NOT ${runnable} THEN NULL
        WHEN in_flight > 0 THEN ${inFlight}
        WHEN last_input > inbox_up_to THEN ${unread}
        WHEN next_due_at IS NOT NULL THEN ${timed} END) STORED,
      work_at BIGINT AS (CASE
        WHEN NOT ${runnable} THEN NULL
        WHEN in_flight > 0 OR last_input > inbox_up_to THEN updated_at
        ELSE next_due_at END) STORED,
      UNIQUE KEY by_key (app, user_id, name),
      KEY by_change (app, changed, id),
      KEY by_owner_in_flight (work, owner, work_at, app, user_id, name),
      KEY by_work (work, work_at, app, user_id, name),
      KEY by_creation (is_root, app, user_id, created_at, name),
      KEY by_creation_of_any_user (is_root, app, created_at, name, user_id)`,
    ),
    table(
      'steps',
      `session BIGINT NOT NULL, step BIGINT NOT NULL, at BIGINT NOT NULL,
      last_record BIGINT NOT NULL, last_event BIGINT NOT NULL, lists BOOLEAN NOT NULL,
      records ${TEXT} NOT NULL, events ${TEXT} NOT NULL,
      PRIMARY KEY (session, step),
      KEY by_event (session, last_event),
      KEY by_list (session, lists, last_record)`,
    ),
    // Unread inputs only.
    table(
      'inbox',
      `session BIGINT NOT NULL, input BIGINT NOT NULL, dedupe_key ${ID}, place ${TEXT} NOT NULL,
      value ${TEXT} NOT NULL, PRIMARY KEY (session, input)`,
    ),
    // The dedupe keys of all inputs, read or unread.
    table(
      'input_keys',
      `session BIGINT NOT NULL, dedupe_key ${ID}, input BIGINT NOT NULL, PRIMARY KEY (session, dedupe_key)`,
    ),
    table(
      'snapshots',
      `session BIGINT NOT NULL PRIMARY KEY, step BIGINT NOT NULL, marking ${TEXT} NOT NULL`,
    ),
    // The long strings of a session by SHA-256, each stored once, in parts.
    table(
      'blobs',
      `session BIGINT NOT NULL, hash VARBINARY(64) NOT NULL, part INT NOT NULL, bytes LONGBLOB NOT NULL,
      PRIMARY KEY (session, hash, part)`,
    ),
    // user_id is empty for app state. value is null for a deleted key, whose version stays.
    table(
      'shared_state',
      `app ${ID}, user_id ${ID}, name VARBINARY(1024) NOT NULL, value ${TEXT}, version BIGINT NOT NULL,
      PRIMARY KEY (app, user_id, name)`,
    ),
    // The owners that have joined. An owner is alive while its process holds the lock with its number.
    table('owners', `name ${ID}, lock_no BIGINT NOT NULL, PRIMARY KEY (name)`),
    table(
      'tombstones',
      `app ${ID}, user_id ${ID}, name ${ID}, uid ${ID}, session BIGINT NOT NULL, changed BIGINT NOT NULL,
      PRIMARY KEY (app, user_id, name), KEY by_change (app, changed, session)`,
    ),
    table(
      'documents',
      `kind ${ID}, id ${ID}, version BIGINT NOT NULL, value ${TEXT} NOT NULL, PRIMARY KEY (kind, id)`,
    ),
    // The calls that wait. What they wait for is in the pending calls of the session.
    table(
      'pending_calls',
      `session BIGINT NOT NULL, call_key ${ID}, app ${ID}, since BIGINT NOT NULL, user_id ${ID}, agent ${ID},
      tool ${TEXT} NOT NULL, needs VARBINARY(32) NOT NULL,
      PRIMARY KEY (session, call_key), KEY by_age (app, since, session, call_key)`,
    ),
    // A group has several rows, so that transactions of several connections do not wait for each other.
    table(
      'usage',
      `app ${ID}, day VARBINARY(10) NOT NULL, user_id ${ID}, agent ${ID}, model VARBINARY(1024) NOT NULL,
      part SMALLINT NOT NULL, calls BIGINT NOT NULL,
      input BIGINT NOT NULL, output BIGINT NOT NULL, total BIGINT NOT NULL,
      thinking BIGINT, cache_read BIGINT, cache_write BIGINT,
      PRIMARY KEY (app, day, user_id, agent, model, part)`,
    ),
    // One row: the number of the last commit.
    table('counter', 'id TINYINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL'),
    `INSERT IGNORE INTO ${t('counter')} VALUES (1, 0)`,
    // The newest commits, in their order. Payload: the sessions that a commit changed. Seconds since 1970.
    table(
      'commits',
      `n BIGINT NOT NULL PRIMARY KEY, tx VARBINARY(36) NOT NULL, at BIGINT NOT NULL, payload ${TEXT},
      UNIQUE KEY by_tx (tx), KEY by_age (at)`,
    ),
    // Rows to lock.
    table('locks', 'slot INT NOT NULL PRIMARY KEY'),
    `INSERT IGNORE INTO ${t('locks')} VALUES ${Array.from({ length: LOCK_ROWS }, (_, slot) => `(${slot})`).join(', ')}`,
  ];
}
