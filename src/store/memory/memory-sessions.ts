import {
  isChildSessionId,
  isDescendantSession,
  rootSessionId,
  type SessionId,
  type SessionKey,
} from '../../core/index.ts';
import { compareBytes } from '../encoding/compare-bytes.ts';
import { toMapKey } from '../encoding/map-key.ts';
import { checkSessionFilter } from '../rules/list-filters.ts';
import { parsePosition } from '../rules/parse-position.ts';
import { toSessionCounts } from '../rules/row-status.ts';
import { SessionNotFoundError } from '../store-errors.ts';
import type {
  CreationPosition,
  OwnerId,
  RunnablePosition,
  SessionCountFilter,
  SessionCounts,
  SessionFilter,
  StoredStatus,
  UserQuery,
} from '../store.ts';
import { IdlePacker } from './idle-packer.ts';
import { MemorySession } from './memory-session.ts';

/** A deleted session. */
interface Tombstone {
  readonly key: SessionKey;
  readonly uid: string;
}

/** The sessions of a `MemoryStore`, with its indexes: called agents by root session, sessions with work, and deleted ones. */
export class MemorySessions {
  readonly #byKey = new Map<string, MemorySession>();
  readonly #childrenByRoot = new Map<string, Set<MemorySession>>();
  /** Sessions with work, so that a scan does not look at idle ones. */
  readonly #busy = new Set<MemorySession>();
  readonly #packer = new IdlePacker<MemorySession>();
  readonly #tombstones = new Map<string, Tombstone>();
  #created = 0;
  /** The work of a turn finds one session many times in sequence. */
  #lastFound: MemorySession | undefined;

  find(key: SessionKey): MemorySession | undefined {
    const last = this.#lastFound;
    if (last?.deleted === false && isSameKey(last.key, key)) return last;
    this.#lastFound = this.#byKey.get(toMapKey(key));
    return this.#lastFound;
  }

  /** @throws SessionNotFoundError */
  get(key: SessionKey): MemorySession {
    const session = this.find(key);
    if (session === undefined) throw this.notFound(key);
    return session;
  }

  notFound(key: SessionKey): SessionNotFoundError {
    return new SessionNotFoundError(key, this.#tombstones.has(toMapKey(key)));
  }

  /** Creates a session without adding it. */
  create(
    key: SessionKey,
    init: Omit<ConstructorParameters<typeof MemorySession>[1], 'order'>,
  ): MemorySession {
    return new MemorySession(key, { ...init, order: ++this.#created });
  }

  /** True without sessions, also deleted ones. */
  isEmpty(): boolean {
    return this.#byKey.size === 0 && this.#tombstones.size === 0;
  }

  /** In the order of their creation. */
  all(): readonly MemorySession[] {
    return [...this.#byKey.values()];
  }

  /** The deleted sessions. */
  get tombstones(): Iterable<Tombstone> {
    return this.#tombstones.values();
  }

  /** Adds a deleted session. */
  bury(tombstone: Tombstone): void {
    this.#tombstones.set(toMapKey(tombstone.key), tombstone);
  }

  add(session: MemorySession): void {
    this.#lastFound = session;
    this.#byKey.set(toMapKey(session.key), session);
    this.#tombstones.delete(toMapKey(session.key));
    this.updateBusy(session);
    if (!isChildSessionId(session.key.sessionId)) return;
    const root = toRootMapKey(session.key);
    const children = this.#childrenByRoot.get(root) ?? new Set<MemorySession>();
    this.#childrenByRoot.set(root, children.add(session));
  }

  remove(session: MemorySession): void {
    const name = toMapKey(session.key);
    session.deleted = true;
    if (this.#lastFound === session) this.#lastFound = undefined;
    this.#byKey.delete(name);
    this.#childrenByRoot.get(toRootMapKey(session.key))?.delete(session);
    this.#busy.delete(session);
    this.#packer.remove(session);
    this.#tombstones.set(name, { key: session.key, uid: session.uid });
  }

  /** Lists the sessions of agents that this session called, at any depth. */
  listChildren(key: SessionKey): readonly MemorySession[] {
    return [...(this.#childrenByRoot.get(toRootMapKey(key)) ?? [])].filter((session) =>
      isDescendantSession(session.key.sessionId, key.sessionId),
    );
  }

  /** @throws SessionNotFoundError when there is no session `after` */
  list(filter: SessionFilter): readonly MemorySession[] {
    checkSessionFilter(filter);
    const limit = filter.limit === undefined ? Infinity : parsePosition(filter.limit, 'limit');
    const sign = filter.direction === 'ascending' ? 1 : -1;
    const compare = filter.order === 'created' ? byCreation : byChange;
    const isAfter = this.#createAfter(filter, sign);
    return this.#select(filter)
      .filter(isAfter)
      .toSorted((a, b) => sign * compare(a, b))
      .slice(0, limit);
  }

  count(filter: SessionCountFilter): SessionCounts {
    checkSessionFilter(filter);
    const counts = new Map<StoredStatus, number>();
    for (const session of this.#select(filter)) {
      const { status } = session.toRow();
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    return toSessionCounts([...counts].map(([status, count]) => ({ status, count })));
  }

  countBytes(filter: SessionCountFilter): number {
    checkSessionFilter(filter);
    return this.#select(filter).reduce((sum, { journal }) => sum + journal.measure(), 0);
  }

  listUsers({ appName, withDeleted = false }: UserQuery): readonly string[] {
    const sessions = [...this.#byKey.values(), ...(withDeleted ? this.#tombstones.values() : [])];
    const users = sessions.flatMap(({ key }) => (key.appName === appName ? [key.userId] : []));
    return [...new Set(users)].toSorted();
  }

  #select(filter: SessionCountFilter): readonly MemorySession[] {
    const { appName, userId, agent, parent, status, activity } = filter;
    return [...this.#byKey.values()].filter(
      (session) =>
        (appName === undefined || session.key.appName === appName) &&
        (userId === undefined || session.key.userId === userId) &&
        (agent === undefined || session.agent === agent) &&
        hasParent(session.key.sessionId, parent) &&
        (status === undefined || session.toRow().status === status) &&
        (activity === undefined || (!session.quarantined && session.summary.activity === activity)),
    );
  }

  #createAfter(filter: SessionFilter, sign: number): (session: MemorySession) => boolean {
    if (filter.after === undefined) return () => true;
    if (filter.order === 'created') {
      const { after } = filter;
      return (session) => sign * byCreation(session, after) > 0;
    }
    const last = this.get(filter.after);
    return (session) => sign * byChange(session, last) > 0;
  }

  /** Must be called after every change of a session's inbox, effects in flight or timer. */
  updateBusy(session: MemorySession): void {
    if (session.hasWork) this.#busy.add(session);
    else this.#busy.delete(session);
  }

  /** Must be called after every step of a session: it is packed when the store is idle. */
  packWhenIdle(session: MemorySession): void {
    this.#packer.touch(session);
  }

  /** Packs no more sessions. */
  close(): void {
    this.#packer.stop();
  }

  /** Lists the sessions with work that `owner` may run. Without an owner, those that any owner may run. */
  listBusy(
    query: {
      readonly owner?: OwnerId;
      readonly appName?: string;
      readonly agents?: readonly string[];
    },
    liveOwners: ReadonlySet<OwnerId>,
  ): readonly MemorySession[] {
    const agents = query.agents === undefined ? undefined : new Set(query.agents);
    return [...this.#busy].filter(
      (session) =>
        agents?.has(session.agent) !== false &&
        (query.appName === undefined || query.appName === session.key.appName) &&
        !session.quarantined &&
        (query.owner === undefined ||
          session.owner === query.owner ||
          session.owner === null ||
          !liveOwners.has(session.owner)),
    );
  }
}

function isSameKey(a: SessionKey, b: SessionKey): boolean {
  return a.sessionId === b.sessionId && a.userId === b.userId && a.appName === b.appName;
}

function toRootMapKey(key: SessionKey): string {
  return toMapKey({ ...key, sessionId: rootSessionId(key.sessionId) });
}

function hasParent(id: SessionId, parent: SessionFilter['parent']): boolean {
  if (parent === undefined) return true;
  return parent === null ? !isChildSessionId(id) : isDescendantSession(id, parent);
}

/** In the order of creation among sessions that changed at the same time. */
function byChange(a: MemorySession, b: MemorySession): number {
  return a.updatedAt - b.updatedAt || a.order - b.order;
}

function byCreation(a: CreationPosition, b: CreationPosition): number {
  return (
    a.createdAt - b.createdAt ||
    compareBytes(a.key.sessionId, b.key.sessionId) ||
    compareBytes(a.key.userId, b.key.userId) ||
    compareBytes(a.key.appName, b.key.appName)
  );
}

/** The order of sessions with work. */
export function byWork(a: RunnablePosition, b: RunnablePosition): number {
  return (
    a.since - b.since ||
    compareBytes(a.key.appName, b.key.appName) ||
    compareBytes(a.key.userId, b.key.userId) ||
    compareBytes(a.key.sessionId, b.key.sessionId)
  );
}
