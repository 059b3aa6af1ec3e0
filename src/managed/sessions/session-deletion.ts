import type { SessionKey } from '../../core/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import type { DeleteCondition, DocumentChange } from '../../store/index.ts';
import { DeletionsWithoutRecord } from '../catalogs/deletions-without-record.ts';
import type { DeletionWithoutRecord } from '../catalogs/deletions-without-record.ts';
import type { SessionCatalog, SessionRecord } from '../catalogs/session-catalog.ts';
import { ignoreMissingSession } from '../interface/managed-errors.ts';
import type { SessionRef } from '../interface/managed-runtime.ts';
import { getSessionId, getUserId } from './session-lookup.ts';
import type { FoundSession, SessionLookup } from './session-lookup.ts';

export interface SessionDeletionOptions {
  readonly runtime: Runtime;
  readonly records: SessionCatalog;
  readonly lookup: SessionLookup;
  readonly onDelete?: ((session: SessionKey) => Promise<void>) | undefined;
}

/**
 * Deletes sessions, with what is kept for them outside the store. If a crash or an error interrupts a deletion, it is
 * continued by the next deletion of the session, or when the next runtime opens.
 */
export class SessionDeletion {
  readonly #options: SessionDeletionOptions;
  readonly #withoutRecord: DeletionsWithoutRecord;

  constructor(options: SessionDeletionOptions) {
    this.#options = options;
    const { store, app } = options.runtime;
    this.#withoutRecord = new DeletionsWithoutRecord(store, app);
  }

  /** Returns false if there is no such session. */
  async delete(ref: SessionRef): Promise<boolean> {
    const { records, lookup, runtime } = this.#options;
    const found = await lookup.findRoot(ref).catch(ignoreMissingSession);
    if (found?.isRecorded === false) return this.#deleteWithoutRecord(found.record);
    const sessionId = getSessionId(ref);
    const user = getUserId(ref);
    if (found === undefined && user !== undefined) {
      const begun = await records.findAny(sessionId);
      if (begun?.userId !== user) return this.#continueIfBegun({ id: sessionId, userId: user });
    }
    // The session is hidden until its deletion ends.
    const begun = await records.beginDelete(sessionId, async (record) => this.#listThreads(record));
    if (begun === undefined) return false;
    const { userId } = begun.record;
    await runtime.delete(sessionId, { user: userId });
    await this.#notify(userId, [...begun.threads, sessionId]);
    await records.remove(sessionId);
    return true;
  }

  /** Deletes a session if it and its threads are unchanged. Returns false if they are not, or there is no such session. */
  async deleteUnchanged(
    { id, userId }: Pick<SessionRecord, 'id' | 'userId'>,
    { sessions, documents: more = [] }: DeleteCondition,
  ): Promise<boolean> {
    const { runtime, lookup } = this.#options;
    const found = await lookup.findRoot({ id, userId }).catch(ignoreMissingSession);
    const planned = found && (await this.#planDeletion(found));
    if (planned === undefined) return false;
    const key = { appName: runtime.app, userId, sessionId: id };
    // In one transaction with the session: a deletion that has begun always ends.
    const documents = [...planned.documents, ...more];
    if (!(await runtime.store.delete(key, { sessions, documents }))) return false;
    // A program may have made another session with this id since.
    if (planned.withoutRecord !== undefined) await this.#continue(planned.withoutRecord);
    else await this.delete({ id, userId });
    return true;
  }

  async #planDeletion({ record, isRecorded }: FoundSession): Promise<
    | {
        readonly documents: readonly DocumentChange[];
        readonly withoutRecord?: DeletionWithoutRecord;
      }
    | undefined
  > {
    const { records, lookup } = this.#options;
    const { id, userId } = record;
    if (isRecorded) return records.planDelete(id, async () => this.#listThreads(record));
    const row = await lookup.findRow(record);
    if (row === undefined) return undefined;
    const threads = await this.#listThreads(record);
    const planned = await this.#withoutRecord.plan({ id, userId, uid: row.uid, threads });
    return { documents: [planned.document], withoutRecord: planned.begun };
  }

  /** Continues the deletions that were interrupted. */
  async resume(onError: (error: unknown) => void): Promise<void> {
    for (const id of await this.#options.records.deletions()) await this.delete(id).catch(onError);
    for (const deletion of await this.#withoutRecord.list())
      await this.#continue(deletion).catch(onError);
  }

  async #deleteWithoutRecord(record: SessionRecord): Promise<boolean> {
    const { id, userId } = record;
    const row = await this.#options.lookup.findRow(record);
    if (row === undefined) return this.#continueIfBegun(record);
    const threads = await this.#listThreads(record);
    return this.#continue(await this.#withoutRecord.begin({ id, userId, uid: row.uid, threads }));
  }

  async #continueIfBegun(session: Pick<SessionRecord, 'id' | 'userId'>): Promise<boolean> {
    const begun = await this.#withoutRecord.find(session);
    return begun !== undefined && this.#continue(begun);
  }

  /** Returns false if a program has made another session with this id, which stays. */
  async #continue(deletion: DeletionWithoutRecord): Promise<boolean> {
    const { runtime, records, lookup } = this.#options;
    const { id, userId, uid, threads } = deletion;
    const row = await lookup.findRow(deletion);
    const isOther = row !== undefined && row.uid !== uid;
    if (!isOther) {
      // First: a session that is made again with this id must not find them.
      await records.removeLabels(deletion);
      // One that is gone already can be made again at any moment.
      await runtime.delete(id, row === undefined ? { user: userId, uid } : { user: userId });
    }
    // The ids of threads contain the uid of their session, so the other session has none of them.
    await this.#notify(userId, isOther ? threads : [...threads, id]);
    await this.#withoutRecord.end(deletion);
    return !isOther;
  }

  async #listThreads(record: SessionRecord): Promise<readonly string[]> {
    const threads = await this.#options.lookup.listThreads(record);
    return threads.map(({ row }) => row.key.sessionId);
  }

  async #notify(userId: string, ids: readonly string[]): Promise<void> {
    const { runtime, onDelete } = this.#options;
    for (const sessionId of ids) await onDelete?.({ appName: runtime.app, userId, sessionId });
  }
}
