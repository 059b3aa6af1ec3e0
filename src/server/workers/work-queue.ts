import type { ManagedRuntime, ManagedSession } from '../../managed/index.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentChange, DocumentStore } from '../../store/index.ts';
import type { ApiKeys } from '../auth/api-keys.ts';
import { WorkspaceIndex } from '../auth/workspace-index.ts';
import type { IndexPage, IndexQuery } from '../auth/two-way-page.ts';
import { notFound, HttpError } from '../http/http-error.ts';
import type { Wire } from '../wire/component.ts';
import { toWireTime } from '../wire/wire-schemas.ts';
import {
  ENTRY_RETENTION_MS,
  parseQueueEntry,
  QUEUE_ENTRY_KIND,
  toQueueEntryJson,
} from './queue-entry.ts';
import { leaseLost, parseWorkItem, toWorkItemJson } from './work-item.ts';
import type { WorkItem } from './work-item.ts';

const ITEM_KIND = 'work-item';
const CLAIM_TIMEOUT_MS = 5000;
const KEY_LIFETIME_MS = 24 * 60 * 60_000;
/** How long a stopped work item can be read. */
const ITEM_RETENTION_MS = 7 * 24 * 60 * 60_000;
/** Value of a worker's first heartbeat. */
const NO_HEARTBEAT = 'NO_HEARTBEAT';

export interface WorkQueueOptions {
  readonly documents: DocumentStore;
  readonly runtime: ManagedRuntime;
  readonly keys: ApiKeys;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  /** How long a worker keeps a session without a heartbeat, in milliseconds. */
  readonly leaseMs: number;
}

export interface WorkClaim {
  readonly item: WorkItem;
  /** Base64 JSON with the token that allows this session only. */
  readonly secret: string;
}

export interface HeartbeatResult {
  readonly item: WorkItem;
  readonly extended: boolean;
  readonly ttlSeconds: number;
}

/**
 * Queue of sessions that need a worker, and the lease of each worker. It is stored as documents, so all processes of
 * the server share it, and it survives a restart. Two workers never hold the same session, because a lease is written
 * only if the item is unchanged since it was read.
 */
export class WorkQueue {
  readonly #documents: DocumentStore;
  readonly #runtime: ManagedRuntime;
  readonly #keys: ApiKeys;
  readonly #clock: Clock;
  readonly #newId: (prefix: string) => string;
  readonly #leaseMs: number;
  readonly #items: WorkspaceIndex;

  constructor({ documents, runtime, keys, clock, newId, leaseMs }: WorkQueueOptions) {
    this.#documents = documents;
    this.#runtime = runtime;
    this.#keys = keys;
    this.#clock = clock;
    this.#newId = newId;
    this.#leaseMs = leaseMs;
    this.#items = new WorkspaceIndex(documents, ITEM_KIND);
  }

  /**
   * Call it before sending something to a session: the session may need a worker. It does nothing for a session whose
   * tools run on the server.
   */
  async enqueue(environmentId: string, session: ManagedSession): Promise<void> {
    if (session.environment?.selfHosted !== true) return;
    const id = `${environmentId}/${session.id}`;
    const found = await this.#documents.document(QUEUE_ENTRY_KIND, id);
    const value = { ...parseQueueEntry(found?.value), at: this.#clock.now() };
    const change = {
      kind: QUEUE_ENTRY_KIND,
      id,
      version: found?.version ?? 0,
      value: toQueueEntryJson(value),
    };
    if (!(await this.#documents.writeDocuments([change])).ok)
      return this.enqueue(environmentId, session);
  }

  /** The change that enqueues a new session. Write it together with the session. */
  insertion(environmentId: string, sessionId: string): DocumentChange {
    const value = toQueueEntryJson({ at: this.#clock.now(), workId: undefined });
    return { kind: QUEUE_ENTRY_KIND, id: `${environmentId}/${sessionId}`, version: 0, value };
  }

  /**
   * Claims a session that needs a worker and has none, or whose worker was lost.
   * @param reclaimMs how long a worker may hold an item without acknowledging it, in milliseconds. Default: 5,000.
   */
  async claim(
    workspace: string,
    environmentId: string,
    reclaimMs: number = CLAIM_TIMEOUT_MS,
  ): Promise<WorkClaim | undefined> {
    const found = await this.#documents.documents({
      kind: QUEUE_ENTRY_KIND,
      prefix: `${environmentId}/`,
    });
    for (const { id, version, value } of found) {
      const sessionId = id.slice(environmentId.length + 1);
      const entry = parseQueueEntry(value);
      const present = await this.#findItem(environmentId, entry.workId);
      if (present !== undefined && this.#isHeld(present.item, reclaimMs)) continue;
      if (!(await this.#needsWorker(sessionId))) {
        if (entry.at < this.#clock.now() - ENTRY_RETENTION_MS)
          await this.#documents.writeDocuments([{ kind: QUEUE_ENTRY_KIND, id, version }]);
        continue;
      }
      const claim = await this.#createClaim(workspace, environmentId, sessionId, present?.item);
      const changes = [
        {
          kind: ITEM_KIND,
          id: `${environmentId}/${claim.item.id}`,
          version: claim.item.id === present?.item.id ? present.version : 0,
          value: toWorkItemJson(claim.item),
        },
        {
          kind: QUEUE_ENTRY_KIND,
          id,
          version,
          value: toQueueEntryJson({ ...entry, workId: claim.item.id }),
        },
      ];
      if ((await this.#documents.writeDocuments(changes)).ok) {
        // Revoke the previous worker's key, in case it is still running.
        if (present?.item.keyId !== undefined) await this.#keys.remove(present.item.keyId);
        return claim;
      }
      // Another worker claimed the session first.
      await this.#keys.remove(claim.item.keyId ?? '');
    }
    return undefined;
  }

  /** @throws HttpError 404 when there is no such work item */
  async get(environmentId: string, workId: string): Promise<WorkItem> {
    const found = await this.#findItem(environmentId, workId);
    if (found === undefined) throw notFound('work', workId);
    return found.item;
  }

  async list<T>(
    environmentId: string,
    query: IndexQuery,
    toItem: (item: WorkItem) => T,
  ): Promise<IndexPage<T>> {
    return this.#items.list(environmentId, query, async ({ value }) =>
      toItem(parseWorkItem(value)),
    );
  }

  async stats(environmentId: string): Promise<Wire<'WorkQueueStats'>> {
    const found = await this.#documents.documents({
      kind: QUEUE_ENTRY_KIND,
      prefix: `${environmentId}/`,
    });
    const waiting: number[] = [];
    let pending = 0;
    for (const { id, value } of found) {
      const { at, workId } = parseQueueEntry(value);
      const item = (await this.#findItem(environmentId, workId))?.item;
      if (item !== undefined && this.#isHeld(item, CLAIM_TIMEOUT_MS)) {
        if (item.acknowledgedAt === undefined) pending++;
      } else if (await this.#needsWorker(id.slice(environmentId.length + 1))) waiting.push(at);
    }
    const oldest = waiting.toSorted((one, other) => one - other)[0];
    return {
      type: 'work_queue_stats',
      depth: waiting.length,
      pending,
      oldest_queued_at: oldest === undefined ? null : toWireTime(oldest),
      workers_polling: null,
    };
  }

  /**
   * Records that the worker received the item and is about to start.
   * @throws HttpError 404
   */
  async acknowledge(environmentId: string, workId: string): Promise<WorkItem> {
    return this.#updateItem(environmentId, workId, (item) => {
      if (item.state !== 'queued') return item;
      const now = this.#clock.now();
      return {
        ...item,
        state: 'starting',
        acknowledgedAt: now,
        leaseUntil: now + this.#leaseMs,
      };
    });
  }

  /**
   * Records a heartbeat and renews the lease.
   * @param request.expected the last heartbeat that the worker knows; a different one shows that another worker has
   * taken the session
   * @throws HttpError 412 when another worker holds the session; 404
   */
  async heartbeat(
    environmentId: string,
    workId: string,
    request: {
      readonly expected: string | undefined;
      readonly ttlSeconds: number | undefined;
      readonly idempotencyKey: string;
    },
  ): Promise<HeartbeatResult> {
    const ttlMs = request.ttlSeconds === undefined ? this.#leaseMs : request.ttlSeconds * 1000;
    let extended = false;
    const item = await this.#updateItem(environmentId, workId, (present) => {
      extended = false;
      if (present.state === 'stopped' || present.state === 'stopping') return present;
      if (present.heartbeatAttempt === request.idempotencyKey) {
        extended = true;
        return present;
      }
      const last =
        present.heartbeatAt === undefined ? NO_HEARTBEAT : toWireTime(present.heartbeatAt);
      if (request.expected !== undefined && request.expected !== last)
        throw leaseLost(present, ttlMs);
      extended = true;
      // Heartbeats have distinct times, even within a millisecond.
      const now = Math.max(this.#clock.now(), (present.heartbeatAt ?? 0) + 1);
      return {
        ...present,
        state: 'active',
        startedAt: present.startedAt ?? now,
        heartbeatAt: now,
        heartbeatAttempt: request.idempotencyKey,
        leaseUntil: now + ttlMs,
      };
    });
    return { item, extended, ttlSeconds: ttlMs / 1000 };
  }

  /**
   * Asks the worker to stop, or with `force` takes the session from it.
   * @throws HttpError 409 when it is stopped already; 404
   */
  async stop(environmentId: string, workId: string, force: boolean): Promise<WorkItem> {
    const now = this.#clock.now();
    const item = await this.#updateItem(environmentId, workId, (present) => {
      if (present.state === 'stopped')
        throw new HttpError(409, `Work "${workId}" is stopped already.`);
      const requested = { ...present, stopRequestedAt: present.stopRequestedAt ?? now };
      return force
        ? { ...requested, state: 'stopped' as const, stoppedAt: now }
        : { ...requested, state: 'stopping' as const };
    });
    if (force && item.keyId !== undefined) await this.#keys.remove(item.keyId);
    return item;
  }

  async updateMetadata(
    environmentId: string,
    workId: string,
    metadata: (present: Readonly<Record<string, string>>) => Readonly<Record<string, string>>,
  ): Promise<WorkItem> {
    return this.#updateItem(environmentId, workId, (item) => ({
      ...item,
      metadata: metadata(item.metadata),
    }));
  }

  /** Removes items that were stopped more than 7 days ago. */
  async sweep(): Promise<void> {
    const before = this.#clock.now() - ITEM_RETENTION_MS;
    for (const { id, version, value } of await this.#documents.documents({ kind: ITEM_KIND })) {
      const { stoppedAt = Infinity } = parseWorkItem(value);
      if (stoppedAt < before)
        await this.#documents.writeDocuments([{ kind: ITEM_KIND, id, version }]);
    }
  }

  async #createClaim(
    workspace: string,
    environmentId: string,
    sessionId: string,
    lostItem: WorkItem | undefined,
  ): Promise<WorkClaim> {
    const now = this.#clock.now();
    const { key, token } = await this.#keys.create(workspace, 'worker', {
      scope: { type: 'session', environmentId, sessionId },
      expiresAt: now + KEY_LIFETIME_MS,
    });
    const isReclaimed = lostItem !== undefined && lostItem.state !== 'stopped';
    const item: WorkItem = {
      id: isReclaimed ? lostItem.id : this.#newId('work'),
      environmentId,
      sessionId,
      state: 'queued',
      createdAt: isReclaimed ? lostItem.createdAt : now,
      claimedAt: now,
      keyId: key.id,
      metadata: isReclaimed ? lostItem.metadata : {},
    };
    const secret = Buffer.from(JSON.stringify({ sessions_token: token })).toString('base64url');
    return { item, secret };
  }

  #isHeld({ state, claimedAt = 0, leaseUntil }: WorkItem, reclaimMs: number): boolean {
    if (state === 'stopped') return false;
    const now = this.#clock.now();
    return state === 'queued' ? now < claimedAt + reclaimMs : now < (leaseUntil ?? 0);
  }

  /** A worker is needed while a turn runs, and while a call waits that is not for the client. */
  async #needsWorker(sessionId: string): Promise<boolean> {
    const session = await this.#runtime.getSession(sessionId).catch(() => undefined);
    if (session === undefined || session.status === 'archived' || session.status === 'paused')
      return false;
    if (session.status === 'running' || session.status === 'rescheduling') return true;
    const custom = await this.#customToolNames(session);
    const pending = await this.#runtime.pending(sessionId);
    return pending.some(({ needs, name }) => needs === 'result' && !custom.has(name));
  }

  async #customToolNames({ agentId, agentVersion }: ManagedSession): Promise<ReadonlySet<string>> {
    const agent = await this.#runtime.getAgent(agentId, { version: agentVersion });
    // A session of an agent from code has no environment, and so no worker.
    const tools = agent.source === 'code' ? [] : (agent.definition.tools ?? []);
    return new Set(tools.flatMap((one) => (one.type === 'custom' ? [one.name] : [])));
  }

  async #findItem(
    environmentId: string,
    workId: string | undefined,
  ): Promise<{ readonly item: WorkItem; readonly version: number } | undefined> {
    if (workId === undefined) return undefined;
    const found = await this.#documents.document(ITEM_KIND, `${environmentId}/${workId}`);
    return found === undefined
      ? undefined
      : { item: parseWorkItem(found.value), version: found.version };
  }

  async #updateItem(
    environmentId: string,
    workId: string,
    next: (present: WorkItem) => WorkItem,
  ): Promise<WorkItem> {
    const found = await this.#findItem(environmentId, workId);
    if (found === undefined) throw notFound('work', workId);
    const item = next(found.item);
    if (item === found.item) return item;
    const written = await this.#documents.writeDocuments([
      {
        kind: ITEM_KIND,
        id: `${environmentId}/${workId}`,
        version: found.version,
        value: toWorkItemJson(item),
      },
    ]);
    return written.ok ? item : this.#updateItem(environmentId, workId, next);
  }
}
