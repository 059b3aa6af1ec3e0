import { InvalidInputError } from '../../core/index.ts';
import { CHILD_REGEX } from '../encoding/child-session-pattern.ts';
import { MAX_HYDRATION_FAILURES } from '../rules/quarantine.ts';

/** The schema version that this code uses. */
export const SCHEMA_VERSION = 5;

/** True for a session that no agent called. */
export const IS_ROOT: string = `name !~ '${CHILD_REGEX}'`;

/** Validates and quotes the name of a schema. @throws InvalidInputError */
export function quotedSchema(name: string): string {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(name)) return `"${name}"`;
  throw new InvalidInputError(
    'schema',
    `must be at most 63 lowercase letters, digits and _, and not start with a digit; it is "${name}".`,
  );
}

/** SQL scripts: the one at index `n` migrates schema version `n` to `n + 1`. */
export function listMigrations(s: string): readonly string[] {
  return [versionOne(s), versionTwo(s), versionThree(s), versionFour(s), versionFive(s)];
}

/** An index that `migrate` builds without blocking writers before it runs the script of its version. */
export interface OnlineIndex {
  /** The schema version whose script declares the index. */
  readonly version: number;
  readonly name: string;
  /** Table, columns and condition. */
  readonly definition: string;
}

/** The conditions of the indexes of sessions with work. A query uses an index only if it has the same condition. */
const RUNNABLE = `failures < ${MAX_HYDRATION_FAILURES}`;
export const IS_IN_FLIGHT: string = `in_flight > 0 AND ${RUNNABLE}`;
export const IS_UNREAD: string = `in_flight = 0 AND last_input > inbox_up_to AND ${RUNNABLE}`;
export const IS_TIMED: string = `in_flight = 0 AND last_input <= inbox_up_to AND next_due_at IS NOT NULL AND ${RUNNABLE}`;

export function listOnlineIndexes(s: string): readonly OnlineIndex[] {
  const key = 'app, user_id, name';
  return [
    {
      version: 4,
      name: 'sessions_in_flight',
      definition: `${s}.sessions (owner, updated_at, ${key}) WHERE ${IS_IN_FLIGHT}`,
    },
    {
      version: 4,
      name: 'sessions_unread',
      definition: `${s}.sessions (updated_at, ${key}) WHERE ${IS_UNREAD}`,
    },
    {
      version: 4,
      name: 'sessions_timed',
      definition: `${s}.sessions (next_due_at, ${key}) WHERE ${IS_TIMED}`,
    },
  ];
}

function versionOne(s: string): string {
  return `
    CREATE TABLE ${s}.sessions (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      app text COLLATE "C" NOT NULL,
      user_id text COLLATE "C" NOT NULL,
      name text COLLATE "C" NOT NULL,
      uid text NOT NULL,
      agent text NOT NULL,
      owner text,
      epoch bigint NOT NULL,
      head bigint NOT NULL,
      last_seq bigint NOT NULL,
      last_record bigint NOT NULL,
      last_input bigint NOT NULL,
      inbox_up_to bigint NOT NULL,
      status text NOT NULL,
      phase text,
      in_flight integer NOT NULL,
      next_due_at bigint,
      failures integer NOT NULL,
      net_hash text NOT NULL,
      -- JSON; null for none.
      pending text,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      UNIQUE (app, user_id, name)
    );

    -- Only sessions with work, so that idle ones cost nothing.
    CREATE INDEX sessions_with_work ON ${s}.sessions (updated_at, id)
      WHERE in_flight > 0 OR next_due_at IS NOT NULL OR last_input > inbox_up_to;

    -- Records and events are JSON without their numbers, which follow from the columns.
    CREATE TABLE ${s}.steps (
      session bigint NOT NULL,
      step bigint NOT NULL,
      at bigint NOT NULL,
      last_record bigint NOT NULL,
      last_event bigint NOT NULL,
      lists boolean NOT NULL,
      records text NOT NULL,
      events text NOT NULL,
      PRIMARY KEY (session, step)
    );
    CREATE INDEX steps_by_event ON ${s}.steps (session, last_event);
    CREATE INDEX steps_with_lists ON ${s}.steps (session, last_record) WHERE lists;

    -- Unread inputs only.
    CREATE TABLE ${s}.inbox (
      session bigint NOT NULL,
      input bigint NOT NULL,
      key text NOT NULL,
      place text NOT NULL,
      value text NOT NULL,
      PRIMARY KEY (session, input)
    );

    -- The dedupe keys of all inputs, read or unread.
    CREATE TABLE ${s}.input_keys (
      session bigint NOT NULL,
      key text COLLATE "C" NOT NULL,
      input bigint NOT NULL,
      PRIMARY KEY (session, key)
    );

    CREATE TABLE ${s}.snapshots (
      session bigint PRIMARY KEY,
      step bigint NOT NULL,
      marking text NOT NULL
    );

    -- The long strings of a session by SHA-256, each stored once.
    CREATE TABLE ${s}.blobs (
      session bigint NOT NULL,
      hash text COLLATE "C" NOT NULL,
      bytes bytea NOT NULL,
      PRIMARY KEY (session, hash)
    );

    -- user_id is empty for app state. value is null for a deleted key, whose version stays.
    CREATE TABLE ${s}.shared_state (
      app text COLLATE "C" NOT NULL,
      user_id text COLLATE "C" NOT NULL,
      name text COLLATE "C" NOT NULL,
      value text,
      version bigint NOT NULL,
      PRIMARY KEY (app, user_id, name)
    );

    -- The owners that have joined. An owner is alive while it holds the advisory lock with its number.
    CREATE TABLE ${s}.owners (
      name text PRIMARY KEY,
      lock integer GENERATED ALWAYS AS IDENTITY UNIQUE
    );

    CREATE TABLE ${s}.tombstones (
      app text COLLATE "C" NOT NULL,
      user_id text COLLATE "C" NOT NULL,
      name text COLLATE "C" NOT NULL,
      uid text NOT NULL,
      PRIMARY KEY (app, user_id, name)
    );

    CREATE TABLE ${s}.documents (
      kind text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      version bigint NOT NULL,
      value text NOT NULL,
      PRIMARY KEY (kind, id)
    );`;
}

function versionTwo(s: string): string {
  return `
    -- The transactions that changed and created the row. Null: before this version.
    ALTER TABLE ${s}.sessions ADD COLUMN changed xid8, ADD COLUMN created xid8;
    CREATE INDEX sessions_by_change ON ${s}.sessions (changed, id) WHERE changed IS NOT NULL;
    ALTER TABLE ${s}.tombstones ADD COLUMN changed xid8, ADD COLUMN session bigint;
    CREATE INDEX tombstones_by_change ON ${s}.tombstones (changed, session) WHERE changed IS NOT NULL;

    -- The calls that wait. What they wait for is in sessions.pending.
    CREATE TABLE ${s}.pending_calls (
      session bigint NOT NULL,
      call text COLLATE "C" NOT NULL,
      app text COLLATE "C" NOT NULL,
      since bigint NOT NULL,
      user_id text COLLATE "C" NOT NULL,
      agent text COLLATE "C" NOT NULL,
      tool text COLLATE "C" NOT NULL,
      needs text NOT NULL,
      PRIMARY KEY (session, call)
    );
    CREATE INDEX pending_calls_by_age ON ${s}.pending_calls (app, since, session, call);

    INSERT INTO ${s}.pending_calls (session, call, app, since, user_id, agent, tool, needs)
    SELECT s.id, one ->> 'callId', s.app, s.updated_at, s.user_id, s.agent, one ->> 'name', one ->> 'needs'
    FROM ${s}.sessions AS s, json_array_elements(s.pending::json) AS one
    WHERE s.pending IS NOT NULL AND one -> 'via' IS NULL
    ON CONFLICT DO NOTHING;

    -- A group has several rows, so that transactions of several connections do not wait for each other.
    -- A count is null where no answer reported it.
    CREATE TABLE ${s}.usage (
      app text COLLATE "C" NOT NULL,
      day text COLLATE "C" NOT NULL,
      user_id text COLLATE "C" NOT NULL,
      agent text COLLATE "C" NOT NULL,
      model text COLLATE "C" NOT NULL,
      part smallint NOT NULL,
      calls bigint NOT NULL,
      input bigint NOT NULL,
      output bigint NOT NULL,
      total bigint NOT NULL,
      thinking bigint,
      cache_read bigint,
      cache_write bigint,
      PRIMARY KEY (app, day, user_id, agent, model, part)
    );`;
}

function versionThree(s: string): string {
  return `
    -- For lists by creation. Only sessions that no agent called.
    CREATE INDEX sessions_by_creation ON ${s}.sessions (app, user_id, created_at, name) WHERE ${IS_ROOT};
    CREATE INDEX sessions_by_creation_of_any_user ON ${s}.sessions (app, created_at, name, user_id) WHERE ${IS_ROOT};`;
}

/** The index `sessions_with_work` of version 1 stays, because processes of an earlier release still scan it. */
function versionFour(s: string): string {
  return listOnlineIndexes(s)
    .map(({ name, definition }) => `CREATE INDEX IF NOT EXISTS ${name} ON ${definition};`)
    .join('\n');
}

/** Processes of the release before may start again: they need none of it, and their steps are not counted. */
function versionFive(s: string): string {
  return `
    -- The bytes of records and events. Steps before this version are not counted.
    ALTER TABLE ${s}.sessions ADD COLUMN bytes bigint NOT NULL DEFAULT 0;
    ALTER TABLE ${s}.petrichor_schema ADD COLUMN compatible_from integer;
    UPDATE ${s}.petrichor_schema SET compatible_from = 4;`;
}
