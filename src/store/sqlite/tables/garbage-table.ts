import type { BlobTable } from './blob-table.ts';
import type { Connection, Statement } from '../database/connection.ts';
import type { InboxTable } from './inbox-table.ts';
import type { JournalTable } from './journal-table.ts';

/**
 * Unreachable data of deleted sessions. It is removed in small pieces, so that a long journal does not block the
 * store.
 */
export class GarbageTable {
  readonly #journal: JournalTable;
  readonly #inbox: InboxTable;
  readonly #blobs: BlobTable;
  readonly #add: Statement<never>;
  readonly #next: Statement<{ session: number }>;
  readonly #remove: Statement<never>;

  constructor(connection: Connection, journal: JournalTable, inbox: InboxTable, blobs: BlobTable) {
    this.#journal = journal;
    this.#inbox = inbox;
    this.#blobs = blobs;
    this.#add = connection.prepare('INSERT INTO garbage VALUES (?)');
    this.#next = connection.prepare('SELECT session FROM garbage LIMIT 1');
    this.#remove = connection.prepare('DELETE FROM garbage WHERE session = ?');
  }

  /** Adds the data of a deleted session, and removes the first piece. */
  add(session: number): void {
    this.#add.run(session);
    this.#removeSome(session);
  }

  isEmpty(): boolean {
    return this.#next.get() === undefined;
  }

  /** Removes the next piece, if there is one. */
  removeSome(): void {
    const next = this.#next.get();
    if (next !== undefined) this.#removeSome(next.session);
  }

  #removeSome(session: number): void {
    if (!this.#journal.removeSome(session) || !this.#inbox.removeSome(session)) return;
    this.#blobs.removeSession(session);
    this.#remove.run(session);
  }
}
