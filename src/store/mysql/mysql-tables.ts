import type { ServerTables } from '../server/server-tables.ts';
import { readChanges } from './change-rows.ts';
import { deleteSessions } from './delete-sessions.ts';
import { listDocuments, readDocument, writeDocuments } from './document-rows.ts';
import { findInput, findInputKeys, insertInput, readInbox } from './inbox-rows.ts';
import { itemStatements } from './item-rows.ts';
import { readBlobs, readJournalPage, readSnapshot } from './journal-rows.ts';
import { lockSlots } from './locked-slots.ts';
import type { OwnerLocks } from './owners-sql.ts';
import { listPendingCalls } from './pending-call-rows.ts';
import { findRunnable } from './runnable-rows.ts';
import type { TableNames } from './schema.ts';
import {
  findSession,
  insertSession,
  listExisting,
  countBytes,
  countSessions,
  listSessions,
  listUsers,
  lockFamily,
  lockSessions,
  markChanged,
  wasDeleted,
} from './session-rows.ts';
import { readSharedRows, readSharedState, writeSharedRows } from './shared-rows.ts';
import type { Reads, Transaction } from './statement.ts';
import { writeSteps } from './step-rows.ts';
import { findLastRecord, writeTrim } from './trim-rows.ts';
import { readUsage } from './usage-rows.ts';

/** The tables with one prefix. */
export function mysqlTables(t: TableNames, locks: OwnerLocks): ServerTables<Reads, Transaction> {
  return {
    ...itemStatements(t),
    findSession: async (queries, key) => findSession(queries, t, key),
    listExisting: async (queries, keys) => listExisting(queries, t, keys),
    wasDeleted: async (queries, key) => wasDeleted(queries, t, key),
    insertSession: async (queries, key, init) => insertSession(queries, t, key, init),
    listSessions: async (queries, filter, after) => listSessions(queries, t, filter, after),
    countSessions: async (queries, filter) => countSessions(queries, t, filter),
    countBytes: async (queries, filter) => countBytes(queries, t, filter),
    listUsers: async (queries, query) => listUsers(queries, t, query),
    lockSessions: async (queries, keys, ifLocked) => lockSessions(queries, t, keys, ifLocked),
    lockFamily: async (queries, key) => lockFamily(queries, t, key),
    deleteSessions: async (queries, rows) => deleteSessions(queries, t, rows),
    setOwner: async (queries, id, owner) => {
      const set = `UPDATE ${t('sessions')} SET owner = ?, epoch = epoch + 1 WHERE id = ?`;
      queries.add(set, [owner, id]);
    },
    setFailures: async (queries, id, failures) => {
      queries.add(`UPDATE ${t('sessions')} SET failures = ? WHERE id = ?`, [failures, id]);
      markChanged(queries, t, [id]);
    },
    touchSession: async (queries, id) => markChanged(queries, t, [id]),
    writeSteps: async (queries, writes) => writeSteps(queries, t, writes),
    findLastRecord: async (queries, id, step) => findLastRecord(queries, t, id, step),
    writeTrim: async (queries, id, trim) => writeTrim(queries, t, id, trim),
    findInput: async (queries, id, dedupeKey) => findInput(queries, t, id, dedupeKey),
    findInputKeys: async (queries, keys) => findInputKeys(queries, t, keys),
    readInbox: async (queries, id, after) => readInbox(queries, t, id, after),
    insertInput: async (queries, id, input) => insertInput(queries, t, id, input),
    findRunnable: async (queries, query) => findRunnable(queries, t, locks, query),
    listPendingCalls: async (queries, query) => listPendingCalls(queries, t, query),
    readChanges: async (queries, query) => readChanges(queries, t, query),
    readUsage: async (queries, query) => readUsage(queries, t, query),
    readSharedState: async (queries, scope) => readSharedState(queries, t, scope),
    lockScopes: async (queries, scopes) => lockSlots(queries, t, scopes),
    readShared: async (queries, keys) => readSharedRows(queries, t, keys),
    writeShared: async (queries, rows) => writeSharedRows(queries, t, rows),
    readDocument: async (queries, kind, id) => readDocument(queries, t, kind, id),
    listDocuments: async (queries, query) => listDocuments(queries, t, query),
    writeDocuments: async (queries, changes) => writeDocuments(queries, t, changes),
    readPage: async (queries, key, range) => readJournalPage(queries, t, key, range),
    readSnapshot: async (queries, id) => readSnapshot(queries, t, id),
    readBlobs: async (queries, id, hashes) => readBlobs(queries, t, id, hashes),
  };
}
