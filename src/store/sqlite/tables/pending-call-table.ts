import { formatSessionKey, type SessionKey } from '../../../core/index.ts';
import { toTextKey } from '../../rules/call-key.ts';
import { checkPendingCallQuery } from '../../rules/list-filters.ts';
import { parsePosition } from '../../rules/parse-position.ts';
import {
  formatPendingPosition,
  listOwnCalls,
  parsePendingPosition,
} from '../../rules/pending-position.ts';
import type { PendingCallQuery, SessionPendingCall, StoredPendingCall } from '../../store.ts';
import type { Connection, Statement } from '../database/connection.ts';
import type { Packed } from '../database/packed-json.ts';
import type { BlobTable } from './blob-table.ts';
import type { SessionHead } from './session-table.ts';

type Calls = readonly StoredPendingCall[];

interface IndexRow {
  readonly since: number;
  readonly session: number;
  readonly call: string;
  readonly user: string;
  readonly name: string;
  readonly agent: string;
  readonly pending: Packed<Calls>;
}

/** The index of pending calls over all sessions. It has a row per call; the calls themselves are in the session's row. */
export class PendingCallTable {
  readonly #connection: Connection;
  readonly #blobs: BlobTable;
  readonly #insert: Statement<never>;
  readonly #remove: Statement<never>;

  constructor(connection: Connection, blobs: BlobTable) {
    this.#connection = connection;
    this.#blobs = blobs;
    this.#insert = connection.prepare(`
      INSERT OR REPLACE INTO pending_calls (app, since, session, call, user, agent, tool, needs)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#remove = connection.prepare(
      'DELETE FROM pending_calls WHERE app = ? AND since = ? AND session = ? AND call = ?',
    );
  }

  /** Brings the index from the pending calls of the session's row to those after a step. */
  replace(key: SessionKey, head: SessionHead, packed: Packed<Calls> | null, calls: Calls): void {
    if (isSamePacked(head.pending, packed)) return;
    const before = this.#listBefore(key, head);
    const after = listOwnCalls(calls);
    const kept = new Set(after.map(toRowName));
    for (const call of before) if (!kept.has(toRowName(call))) this.#removeCall(key, head, call);
    const known = new Set(before.map(toRowName));
    for (const call of after) {
      if (known.has(toRowName(call))) continue;
      const { since, callId, name, needs } = call;
      this.#insert.run(
        key.appName,
        since,
        head.id,
        toTextKey(callId),
        key.userId,
        head.agent,
        name,
        needs,
      );
    }
  }

  /** Removes the calls of a session that is deleted. */
  removeSession(key: SessionKey, head: SessionHead): void {
    for (const call of this.#listBefore(key, head)) this.#removeCall(key, head, call);
  }

  list(query: PendingCallQuery): readonly SessionPendingCall[] {
    checkPendingCallQuery(query);
    const { appName, userId, agent, tool, needs } = query;
    const limit = parsePosition(query.limit, 'limit');
    const after = query.after === undefined ? undefined : parsePendingPosition(query.after);
    const filters = [
      ['p.user', userId],
      ['p.agent', agent],
      ['p.tool', tool],
      ['p.needs', needs],
    ] as const;
    const given = filters.flatMap(([column, value]) =>
      value === undefined ? [] : [{ sql: `${column} = ?`, value }],
    );
    const where = [
      'p.app = ?',
      ...given.map(({ sql }) => sql),
      ...(after === undefined ? [] : ['(p.since, p.session, p.call) > (?, ?, ?)']),
    ];
    const rows = this.#connection
      .prepare<IndexRow>(
        `SELECT p.since, p.session, p.call, s.user, s.name, s.agent, s.pending
         FROM pending_calls AS p JOIN sessions AS s ON s.id = p.session
         WHERE ${where.join(' AND ')} ORDER BY p.since, p.session, p.call LIMIT ?`,
      )
      .all(appName, ...given.map(({ value }) => value), ...(after ?? []), limit);
    return rows.flatMap((row) => {
      const key = { appName, userId: row.user, sessionId: row.name };
      const call = this.#unpack(key, row.pending).find(
        ({ callId }) => toTextKey(callId) === row.call,
      );
      const position = formatPendingPosition([row.since, row.session, row.call]);
      return call === undefined ? [] : [{ key, agent: row.agent, call, position }];
    });
  }

  #listBefore(key: SessionKey, { pending }: SessionHead): Calls {
    return pending === null ? [] : listOwnCalls(this.#unpack(key, pending));
  }

  #removeCall({ appName }: SessionKey, { id }: SessionHead, call: StoredPendingCall): void {
    this.#remove.run(appName, call.since, id, toTextKey(call.callId));
  }

  #unpack(key: SessionKey, packed: Packed<Calls>): Calls {
    return this.#blobs.unpack(packed, `the pending calls of session ${formatSessionKey(key)}`);
  }
}

/** Names everything that the index has of a call. */
function toRowName({ since, callId, name, needs }: StoredPendingCall): string {
  return JSON.stringify([since, callId, name, needs]);
}

function isSamePacked(one: Packed<Calls> | null, other: Packed<Calls> | null): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array)
    return Buffer.compare(one, other) === 0;
  return one === other;
}
