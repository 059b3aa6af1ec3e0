import { CHILD_GLOB } from '../../encoding/child-session-pattern.ts';
import type { Migrations } from './migrations.ts';
import { indexPendingCalls } from './index-pending-calls.ts';

/**
 * Page size in bytes of a new file, chosen by measurement: a commit writes every page that it changes as a whole. See
 * docs/decisions/0125-small-pages.md.
 */
export const PAGE_SIZE = 512;

/**
 * The low bits of a row id are the number of a step or input within its session; the bits above are the session's
 * number. So the steps of a session are adjacent, and are found by number without another index.
 */
export const ITEM_BITS = 32;

/** The `work_at` of a session with effects in flight. It is before any time. */
export const IN_FLIGHT = -1;

/** True for a session that no agent called. */
export const IS_ROOT: string = `name NOT GLOB '*${CHILD_GLOB}'`;

const VERSION_1 = `
  CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    app TEXT NOT NULL,
    user TEXT NOT NULL,
    name TEXT NOT NULL,
    uid TEXT NOT NULL,
    agent TEXT NOT NULL,
    owner TEXT,
    epoch INTEGER NOT NULL,
    head INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    last_record INTEGER NOT NULL,
    inbox_up_to INTEGER NOT NULL,
    status TEXT NOT NULL,
    in_flight INTEGER NOT NULL,
    next_due_at INTEGER,
    -- ${IN_FLIGHT} with effects in flight, else next_due_at: null when nobody need look.
    work_at INTEGER,
    failures INTEGER NOT NULL,
    net_hash TEXT NOT NULL,
    -- Packed JSON; null for none.
    pending ANY,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (app, user, name)
  ) STRICT;

  CREATE INDEX sessions_with_work ON sessions (work_at) WHERE work_at IS NOT NULL;

  -- id: session << ${ITEM_BITS} | step. Records and events are packed JSON without the numbers that follow from the columns.
  CREATE TABLE steps (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    last_record INTEGER NOT NULL,
    last_event INTEGER NOT NULL,
    lists INTEGER NOT NULL,
    records ANY NOT NULL,
    events ANY NOT NULL
  ) STRICT;

  -- Unread inputs only, so its rows are also the index of the sessions that have some. id: session << ${ITEM_BITS} | input.
  CREATE TABLE inbox (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    place TEXT NOT NULL,
    value ANY NOT NULL
  ) STRICT;

  -- What is left of an input once it is read.
  CREATE TABLE input_keys (
    session INTEGER NOT NULL,
    key TEXT NOT NULL,
    input INTEGER NOT NULL,
    PRIMARY KEY (session, key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE snapshots (
    session INTEGER PRIMARY KEY,
    step INTEGER NOT NULL,
    marking ANY NOT NULL
  ) STRICT;

  -- user is empty for the app's own. value is null for a deleted key, whose version stays.
  CREATE TABLE shared_state (
    app TEXT NOT NULL,
    user TEXT NOT NULL,
    name TEXT NOT NULL,
    value ANY,
    version INTEGER NOT NULL,
    UNIQUE (app, user, name)
  ) STRICT;

  -- Long strings by their SHA-256, once however often they occur.
  CREATE TABLE blobs (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    bytes BLOB NOT NULL
  ) STRICT;

  CREATE TABLE blob_uses (
    session INTEGER NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (session, hash)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX blob_uses_by_hash ON blob_uses (hash);

  CREATE TABLE owners (owner TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

  CREATE TABLE tombstones (
    app TEXT NOT NULL,
    user TEXT NOT NULL,
    name TEXT NOT NULL,
    uid TEXT NOT NULL,
    PRIMARY KEY (app, user, name)
  ) STRICT, WITHOUT ROWID;

  -- Deleted sessions whose steps are not all removed yet.
  CREATE TABLE garbage (session INTEGER PRIMARY KEY) STRICT;
`;

const VERSION_2 = `
  -- What the session's agent calls its status; null where it has no word of its own.
  ALTER TABLE sessions ADD COLUMN phase TEXT;

  -- Packed JSON outside any session, each with a version to compare and set.
  CREATE TABLE documents (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    value ANY NOT NULL,
    UNIQUE (kind, id)
  ) STRICT;
`;

const VERSION_3 = `
  -- The number of the row's last change, and of its creation: 1, 2, 3 over all sessions of the file. 0: before this version.
  ALTER TABLE sessions ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN created INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX sessions_by_change ON sessions (changed);
  ALTER TABLE tombstones ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX tombstones_by_change ON tombstones (changed);

  -- The calls that wait, in the order of a listing. What they wait for is in sessions.pending.
  CREATE TABLE pending_calls (
    app TEXT NOT NULL,
    since INTEGER NOT NULL,
    session INTEGER NOT NULL,
    call TEXT NOT NULL,
    user TEXT NOT NULL,
    agent TEXT NOT NULL,
    tool TEXT NOT NULL,
    needs TEXT NOT NULL,
    PRIMARY KEY (app, since, session, call)
  ) STRICT, WITHOUT ROWID;

  -- A count is null where no answer reported it.
  CREATE TABLE usage (
    app TEXT NOT NULL,
    day TEXT NOT NULL,
    user TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    total INTEGER NOT NULL,
    thinking INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    PRIMARY KEY (app, day, user, agent, model)
  ) STRICT, WITHOUT ROWID;
`;

const VERSION_4 = `
  -- For lists by creation. Only sessions that no agent called.
  CREATE INDEX sessions_by_creation ON sessions (app, user, created_at, name) WHERE ${IS_ROOT};
  CREATE INDEX sessions_by_creation_of_any_user ON sessions (app, created_at, name, user) WHERE ${IS_ROOT};
`;

const VERSION_5 = `
  -- No reader has a position of the changes after this one. A session whose number is greater keeps it when it changes.
  CREATE TABLE change_reads (id INTEGER PRIMARY KEY CHECK (id = 1), up_to INTEGER NOT NULL) STRICT;
  INSERT INTO change_reads SELECT 1, max(
    coalesce((SELECT max(changed) FROM sessions), 0), coalesce((SELECT max(changed) FROM tombstones), 0));
`;

const VERSION_6 = `
  -- The bytes of records and events. Steps before this version are not counted.
  ALTER TABLE sessions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
`;

export const MIGRATIONS: Migrations = [
  VERSION_1,
  VERSION_2,
  { sql: VERSION_3, convert: indexPendingCalls },
  VERSION_4,
  VERSION_5,
  VERSION_6,
];
