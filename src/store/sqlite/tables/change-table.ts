import { InvalidInputError } from '../../../core/index.ts';
import type { SessionChangePage, SessionChangeQuery, SessionRowChange } from '../../store.ts';
import { checkChangeLimit } from '../../rules/change-cursor.ts';
import type { Connection, Statement } from '../database/connection.ts';
import type { SessionTable } from './session-table.ts';

interface ChangeRow {
  readonly changed: number;
  readonly created: number;
  readonly user: string;
  readonly name: string;
  /** Null: the session exists. */
  readonly deleted: string | null;
}

/** The changes of sessions, in the order of their numbers. */
export class ChangeTable {
  readonly #sessions: SessionTable;
  readonly #last: Statement<{ last: number }>;
  readonly #page: Statement<ChangeRow>;
  readonly #readUpTo: Statement<{ upTo: number }>;
  readonly #mark: Statement<never>;

  constructor(connection: Connection, sessions: SessionTable) {
    this.#sessions = sessions;
    this.#last = connection.prepare(`
      SELECT max(coalesce((SELECT max(changed) FROM sessions), 0), coalesce((SELECT max(changed) FROM tombstones), 0)) AS last`);
    this.#readUpTo = connection.prepare('SELECT up_to AS upTo FROM change_reads');
    this.#mark = connection.prepare('UPDATE change_reads SET up_to = max(up_to, ?)');
    // The pages of both tables are read from their indexes, and stop at the limit.
    this.#page = connection.prepare(`
      SELECT * FROM (
        SELECT * FROM (
          SELECT changed, created, app, user, name, NULL AS deleted FROM sessions INDEXED BY sessions_by_change
          WHERE changed > ? AND app = ? ORDER BY changed LIMIT ?)
        UNION ALL
        SELECT * FROM (
          SELECT changed, 0, app, user, name, uid FROM tombstones INDEXED BY tombstones_by_change
          WHERE changed > ? AND app = ? ORDER BY changed LIMIT ?))
      ORDER BY changed LIMIT ?`);
  }

  /** True if the changes after the end of this page get greater numbers. Otherwise the page must be read with `mark`. */
  isMarked({ cursor }: SessionChangePage): boolean {
    return Number(cursor) <= (this.#readUpTo.get()?.upTo ?? 0);
  }

  /** Reads a page, and marks its end: what changes from then on gets a greater number. Must run in a write transaction. */
  mark(query: SessionChangeQuery): SessionChangePage {
    const page = this.read(query);
    this.#mark.run(Number(page.cursor));
    return page;
  }

  /** Reads a page. Must run in one read transaction. */
  read({ appName, after, limit }: SessionChangeQuery): SessionChangePage {
    checkChangeLimit(limit);
    const last = this.#last.get()?.last ?? 0;
    if (after === undefined) return { changes: [], cursor: String(last), isLast: true };
    const from = /^\d{1,15}$/.test(after) ? Number(after) : Infinity;
    if (from > last)
      throw new InvalidInputError('after', `"${after}" is not a position of this store.`);
    const rows = this.#page.all(from, appName, limit, from, appName, limit, limit);
    const changes = rows.flatMap(
      ({ changed, created, user, name, deleted }): readonly SessionRowChange[] => {
        const key = { appName, userId: user, sessionId: name };
        const cursor = String(changed);
        if (deleted !== null) return [{ type: 'deleted', key, uid: deleted, cursor }];
        const row = this.#sessions.get(key);
        return [{ type: created > from ? 'created' : 'changed', key, row, cursor }];
      },
    );
    const isLast = rows.length < limit;
    const cursor = String(isLast ? last : (rows.at(-1)?.changed ?? last));
    return { changes, cursor, isLast };
  }
}
