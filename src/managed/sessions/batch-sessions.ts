import type { InputBatch, Session } from '../../runtime/index.ts';
import { SessionNotFoundError } from '../../store/index.ts';
import type { SessionRow } from '../../store/index.ts';
import type { SessionRecord } from '../catalogs/session-catalog.ts';
import type { SessionRef } from '../interface/managed-runtime.ts';
import { getSessionId, getUserId, type SessionLookup } from './session-lookup.ts';

/** A session of a batch, and its row as the batch found it. */
export interface BatchSession {
  readonly record: SessionRecord;
  readonly session: Session;
  readonly row: SessionRow;
}

/** The sessions of a batch. Each is read once, so that a request pays for one read however many events it has. */
export class BatchSessions {
  readonly #batch: InputBatch;
  readonly #lookup: SessionLookup;
  readonly #opened = new Map<string, BatchSession>();

  constructor(batch: InputBatch, lookup: SessionLookup) {
    this.#batch = batch;
    this.#lookup = lookup;
  }

  /** @throws ManagedSessionNotFoundError if the session does not exist */
  async open(ref: SessionRef): Promise<BatchSession> {
    const known = this.#opened.get(toRefKey(ref));
    if (known !== undefined) return known;
    const found = await this.#lookup.find(ref);
    const { id, userId, agentName: agent } = found.record;
    const session = await this.#batch.session(id, { user: userId, agent });
    try {
      const opened = { record: found.record, session, row: await session.status() };
      this.#opened.set(toRefKey({ id, userId }), opened);
      this.#opened.set(toRefKey(ref), opened);
      return opened;
    } catch (error) {
      if (!(error instanceof SessionNotFoundError)) throw error;
      // The record was left without a session.
      await this.#lookup.open(found);
      return this.open(ref);
    }
  }
}

function toRefKey(ref: SessionRef): string {
  const userId = getUserId(ref);
  return userId === undefined ? getSessionId(ref) : `${userId}\0${getSessionId(ref)}`;
}
