import type { Connection } from '../database/connection.ts';
import { BlobTable } from './blob-table.ts';
import { DocumentTable } from './document-table.ts';
import { InboxTable } from './inbox-table.ts';
import { JournalTable } from './journal-table.ts';
import { PendingCallTable } from './pending-call-table.ts';
import { SessionTable } from './session-table.ts';
import { SharedTable } from './shared-table.ts';
import { UsageTable } from './usage-table.ts';

/** The tables of a store, over one connection. */
export interface SqliteTables {
  readonly blobs: BlobTable;
  readonly sessions: SessionTable;
  readonly journal: JournalTable;
  readonly inbox: InboxTable;
  readonly shared: SharedTable;
  readonly documents: DocumentTable;
  readonly pendingCalls: PendingCallTable;
  readonly usage: UsageTable;
}

export function createTables(connection: Connection): SqliteTables {
  const blobs = new BlobTable(connection);
  return {
    blobs,
    sessions: new SessionTable(connection, blobs),
    journal: new JournalTable(connection, blobs),
    inbox: new InboxTable(connection, blobs),
    shared: new SharedTable(connection, blobs),
    documents: new DocumentTable(connection, blobs),
    pendingCalls: new PendingCallTable(connection, blobs),
    usage: new UsageTable(connection),
  };
}
