import { rootSessionId } from '../../core/index.ts';
import type { Runtime, Session } from '../../runtime/index.ts';
import { SessionNotFoundError } from '../../store/index.ts';
import type { SessionRow } from '../../store/index.ts';
import type { AgentNames } from '../catalogs/agent-names.ts';
import type { SessionCatalog, SessionRecord } from '../catalogs/session-catalog.ts';
import { ManagedSessionNotFoundError } from '../interface/managed-errors.ts';
import type { SessionRef } from '../interface/managed-runtime.ts';
import { toThreadRecord } from './thread-record.ts';

/** A session that was found. */
export interface FoundSession {
  /** Its record. If nothing is stored, it is made from the session's row. */
  readonly record: SessionRecord;
  /** Whether the session, or the session it is a thread of, has a stored record. */
  readonly isRecorded: boolean;
}

export interface SessionLookupOptions {
  readonly runtime: Runtime;
  readonly records: SessionCatalog;
  readonly names: AgentNames;
}

/** Finds sessions: those that `startSession` recorded, those that a program made, and the threads of both. */
export class SessionLookup {
  readonly #runtime: Runtime;
  readonly #records: SessionCatalog;
  readonly #names: AgentNames;

  constructor({ runtime, records, names }: SessionLookupOptions) {
    this.#runtime = runtime;
    this.#records = records;
    this.#names = names;
  }

  /**
   * Finds a session, or a thread of one.
   * @throws ManagedSessionNotFoundError if it does not exist
   */
  async find(ref: SessionRef): Promise<FoundSession> {
    const id = getSessionId(ref);
    const rootId = rootSessionId(id);
    const root = await this.#findRoot(rootId, getUserId(ref));
    if (rootId === id) return root;
    const row = await this.findRow({ ...root.record, id });
    if (row === undefined) throw new ManagedSessionNotFoundError(id);
    return { ...root, record: toThreadRecord(root.record, row, this.#names) };
  }

  /**
   * Finds a session that is not a thread.
   * @throws ManagedSessionNotFoundError if it does not exist
   */
  async findRoot(ref: SessionRef): Promise<FoundSession> {
    const id = getSessionId(ref);
    if (rootSessionId(id) !== id) throw new ManagedSessionNotFoundError(id);
    return this.find(ref);
  }

  /** Lists the threads of a session, in order of the calls. */
  async listThreads(
    record: SessionRecord,
  ): Promise<readonly { readonly record: SessionRecord; readonly row: SessionRow }[]> {
    const rows = await this.#runtime.sessions({ user: record.userId, parent: record.id });
    return rows
      .toSorted((one, other) => one.createdAt - other.createdAt)
      .map((row) => ({ record: toThreadRecord(record, row, this.#names), row }));
  }

  /** Opens the session, and resumes its work. @throws ManagedSessionNotFoundError if it was deleted meanwhile */
  async open({ record: { id, userId, agentName }, isRecorded }: FoundSession): Promise<Session> {
    if (!isRecorded) {
      const found = await this.#runtime.find(id, { user: userId });
      if (found === undefined) throw new ManagedSessionNotFoundError(id);
      return found;
    }
    const session = await this.#runtime.session(id, { user: userId, agent: agentName });
    if ((await this.#records.find(rootSessionId(id))) !== undefined) return session;
    // Deleted while it was being opened: remove what the opening created.
    await this.#runtime.delete(id, { user: userId });
    throw new ManagedSessionNotFoundError(id);
  }

  /** Opens a session as `open` does, and reads its row. */
  async openWithRow(
    found: FoundSession,
  ): Promise<{ readonly session: Session; readonly row: SessionRow }> {
    const { record, isRecorded } = found;
    if (isRecorded) {
      const { id, userId, agentName } = record;
      // A batch opens a session without creating it, so a deleted one needs no second look at its record.
      const session = await this.#runtime.batch().session(id, { user: userId, agent: agentName });
      try {
        return { session, row: await session.status() };
      } catch (error) {
        if (!(error instanceof SessionNotFoundError)) throw error;
      }
    }
    const session = await this.open(found);
    return { session, row: await this.getRow(found) };
  }

  async findRow({
    id,
    userId,
  }: Pick<SessionRecord, 'id' | 'userId'>): Promise<SessionRow | undefined> {
    return this.#runtime.store.find({ appName: this.#runtime.app, userId, sessionId: id });
  }

  async getRow(found: FoundSession): Promise<SessionRow> {
    return (await this.findRow(found.record)) ?? (await (await this.open(found)).status());
  }

  /** The session of a row. Undefined while it is being deleted. */
  async findByRow(row: SessionRow): Promise<FoundSession | undefined> {
    const { sessionId, userId } = row.key;
    const record = await this.#records.findAny(sessionId);
    if (record?.userId !== userId) return this.#withLabels(row);
    return record.isDeleting === true ? undefined : { record, isRecorded: true };
  }

  async #withLabels(row: SessionRow): Promise<FoundSession> {
    const made = this.#toRecord(row);
    const labels = await this.#records.readLabels(made);
    return { record: { ...made, ...labels }, isRecorded: false };
  }

  async #findRoot(id: string, userId: string | undefined): Promise<FoundSession> {
    const record = await this.#records.findAny(id);
    if (record !== undefined && (userId === undefined || record.userId === userId)) {
      // A record of an earlier release may belong to another application on this store.
      const isOwn = record.appName !== undefined || (await this.findRow(record)) !== undefined;
      if (record.isDeleting === true || !isOwn) throw new ManagedSessionNotFoundError(id);
      return { record, isRecorded: true };
    }
    const row = userId === undefined ? undefined : await this.findRow({ id, userId });
    if (row === undefined) throw new ManagedSessionNotFoundError(id);
    return this.#withLabels(row);
  }

  #toRecord({ key, agent, createdAt }: SessionRow): SessionRecord {
    const { id: agentId, version: agentVersion } = this.#names.resolve(agent);
    const { sessionId: id, userId } = key;
    return { id, userId, agentId, agentVersion, agentName: agent, createdAt };
  }
}

/** The user of a session. Undefined for an id alone. */
export function getUserId(ref: SessionRef): string | undefined {
  if (typeof ref === 'string') return undefined;
  return 'owner' in ref ? ref.owner.userId : ref.userId;
}

/** The id of a session. */
export function getSessionId(ref: SessionRef): string {
  return typeof ref === 'string' ? ref : ref.id;
}
