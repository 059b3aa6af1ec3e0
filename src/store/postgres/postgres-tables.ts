import type { ServerTables } from '../server/server-tables.ts';
import { readChanges } from './change-rows.ts';
import type { Queries, WriteQueries } from './queries.ts';
import { deleteSessions } from './delete-sessions.ts';
import { listDocumentRows, readDocumentRow, writeDocumentRows } from './document-rows.ts';
import { findInput, findInputKeys, insertInput, readInbox } from './inbox-rows.ts';
import { itemStatements } from './item-rows.ts';
import { readBlobs, readJournalPage, readSnapshot } from './journal-rows.ts';
import { listPendingCallRows } from './pending-call-rows.ts';
import { findRunnableRows } from './runnable-rows.ts';
import { SessionRows } from './session-rows.ts';
import { lockScopes, readSharedRows, readSharedState, writeSharedRows } from './shared-rows.ts';
import { writeSteps } from './step-rows.ts';
import { findLastRecord, writeTrim } from './trim-rows.ts';
import { readUsage } from './usage-rows.ts';

/** The tables of a PostgreSQL schema, whose name is quoted. */
export function postgresTables(s: string): ServerTables<Queries, WriteQueries> {
  const sessions = new SessionRows(s);
  return {
    ...itemStatements(s),
    findSession: async (queries, key) => sessions.find(queries, key),
    listExisting: async (queries, keys) => sessions.listExisting(queries, keys),
    wasDeleted: async (queries, key) => sessions.wasDeleted(queries, key),
    insertSession: async (queries, key, init) => sessions.insert(queries, key, init),
    listSessions: async (queries, filter, after) => sessions.list(queries, filter, after),
    countSessions: async (queries, filter) => sessions.count(queries, filter),
    countBytes: async (queries, filter) => sessions.countBytes(queries, filter),
    listUsers: async (queries, query) => sessions.listUsers(queries, query),
    lockSessions: async (queries, keys, ifLocked) => sessions.lockAll(queries, keys, ifLocked),
    lockFamily: async (queries, key) => sessions.lockFamily(queries, key),
    deleteSessions: async (queries, rows) => deleteSessions(queries, s, rows),
    setOwner: async (queries, id, owner) => {
      const set = `UPDATE ${s}.sessions SET owner = $1, epoch = epoch + 1 WHERE id = $2`;
      queries.add(set, [owner, id]);
    },
    setFailures: async (queries, id, failures) => {
      const set = `UPDATE ${s}.sessions SET failures = $1, changed = pg_current_xact_id() WHERE id = $2`;
      queries.add(set, [failures, id]);
    },
    touchSession: async (queries, id) => {
      const set = `UPDATE ${s}.sessions SET changed = pg_current_xact_id() WHERE id = $1`;
      queries.add(set, [id]);
    },
    writeSteps: async (queries, writes) => writeSteps(queries, s, writes),
    findLastRecord: async (queries, id, step) => findLastRecord(queries, s, id, step),
    writeTrim: async (queries, id, trim) => writeTrim(queries, s, id, trim),
    findInput: async (queries, id, dedupeKey) => findInput(queries, s, id, dedupeKey),
    findInputKeys: async (queries, keys) => findInputKeys(queries, s, keys),
    readInbox: async (queries, id, after) => readInbox(queries, s, id, after),
    insertInput: async (queries, id, input) => insertInput(queries, s, id, input),
    findRunnable: async (queries, query) => findRunnableRows(queries, s, query),
    listPendingCalls: async (queries, query) => listPendingCallRows(queries, s, query),
    readChanges: async (queries, query) => readChanges(queries, s, query),
    readUsage: async (queries, query) => readUsage(queries, s, query),
    readSharedState: async (queries, scope) => readSharedState(queries, s, scope),
    lockScopes: async (queries, scopes) => lockScopes(queries, s, scopes),
    readShared: async (queries, keys) => readSharedRows(queries, s, keys),
    writeShared: async (queries, rows) => writeSharedRows(queries, s, rows),
    readDocument: async (queries, kind, id) => readDocumentRow(queries, s, kind, id),
    listDocuments: async (queries, query) => listDocumentRows(queries, s, query),
    writeDocuments: async (queries, changes) => writeDocumentRows(queries, s, changes),
    readPage: async (queries, key, range) => readJournalPage(queries, s, key, range),
    readSnapshot: async (queries, id) => readSnapshot(queries, s, id),
    readBlobs: async (queries, id, hashes) => readBlobs(queries, s, id, hashes),
  };
}
