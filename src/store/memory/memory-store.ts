import {
  isChildSessionId,
  isDescendantSession,
  rootSessionId,
  frozenJson,
  newSessionUid,
  type SessionId,
  InvalidInputError,
  type Json,
  type LogEvent,
  type Seq,
  parseIdentity,
  parseSessionKey,
  type SessionKey,
  getStateScope,
} from '../../core/index.ts';
import type { RecordSeq } from '../../net/index.ts';
import { ChangeFeed } from '../rules/change-feed.ts';
import { duplicateReceipt } from '../rules/dedupe-key.ts';
import type {
  DocumentChange,
  DocumentQuery,
  DocumentResult,
  StoredDocument,
} from '../documents.ts';
import type { Failpoints } from '../failpoints.ts';
import { changesList } from '../encoding/changes-list.ts';
import { toMapKey } from '../encoding/map-key.ts';
import { MemoryDocuments } from './memory-documents.ts';
import { MemorySession } from './memory-session.ts';
import { parsePosition } from '../rules/parse-position.ts';
import { applySharedWrites, findChangedKeys } from '../rules/apply-shared-writes.ts';
import { listChangedSessions, checkInputs } from '../rules/submission-rules.ts';
import { checkConsumed, checkNumbering, checkStep, isStale } from '../rules/step-rules.ts';
import { SessionNotFoundError, StoreClosedError } from '../store-errors.ts';
import type {
  CommitResult,
  CommittedStep,
  InboxRow,
  InjectReceipt,
  InboxInput,
  InputSeq,
  OwnerId,
  SessionFilter,
  SessionRow,
  SettledStep,
  SharedState,
  StepNumber,
  Store,
  StoreListener,
  Submission,
  SubmitResult,
} from '../store.ts';

/** The options of {@link MemoryStore}. */
export interface MemoryStoreOptions {
  /** Creates the uid of a new session. Default: random. */
  readonly newUid?: () => string;
  /** Makes the store fail, in tests. */
  readonly failpoints?: Failpoints;
}

interface SharedValue {
  readonly value: Json | undefined;
  readonly version: number;
}

type SessionEnd = Pick<
  MemorySession,
  'uid' | 'owner' | 'epoch' | 'head' | 'lastRecord' | 'lastSeq'
>;

/** A store in memory. Its data is lost when the process ends. Several runtimes in the process can share it. */
export class MemoryStore implements Store {
  readonly durability = 'process' as const;

  readonly #newUid: () => string;
  readonly #failpoints: Failpoints;
  readonly #feed = new ChangeFeed();
  readonly #sessions = new Map<string, MemorySession>();
  /** The sessions of called agents, by root session. */
  readonly #childrenByRoot = new Map<string, Set<MemorySession>>();
  /** Sessions with work, so that a scan does not look at idle ones. */
  readonly #busy = new Set<MemorySession>();
  readonly #tombstones = new Set<string>();
  readonly #owners = new Set<OwnerId>();
  readonly #shared = new Map<string, Map<string, SharedValue>>();
  readonly #documents = new MemoryDocuments();
  #created = 0;
  #closed = false;

  constructor(options: MemoryStoreOptions = {}) {
    this.#newUid = options.newUid ?? newSessionUid;
    this.#failpoints = options.failpoints ?? {};
  }

  async join(owner: OwnerId): Promise<void> {
    this.#assertOpen();
    this.#owners.add(parseIdentity(owner, 'owner'));
  }

  async leave(owner: OwnerId): Promise<void> {
    this.#assertOpen();
    this.#owners.delete(owner);
  }

  async create(
    key: SessionKey,
    init: {
      readonly agent: string;
      readonly owner: OwnerId;
      readonly at: number;
      readonly netHash: string;
    },
  ): Promise<{ readonly row: SessionRow; readonly created: boolean }> {
    const parsed = Object.freeze(parseSessionKey(key));
    parseIdentity(init.agent, 'agent');
    const present = this.#find(key);
    if (present !== undefined) return { row: present.toRow(), created: false };
    this.#assertJoined(init.owner);
    return this.#write(() => {
      const session = new MemorySession(parsed, {
        ...init,
        uid: this.#newUid(),
        order: ++this.#created,
      });
      this.#sessions.set(toMapKey(parsed), session);
      if (isChildSessionId(parsed.sessionId)) {
        const root = toRootMapKey(parsed);
        this.#childrenByRoot.set(
          root,
          (this.#childrenByRoot.get(root) ?? new Set<MemorySession>()).add(session),
        );
      }
      return { row: session.toRow(), created: true };
    });
  }

  async find(key: SessionKey): Promise<SessionRow | undefined> {
    return this.#find(key)?.toRow();
  }

  async list(filter: SessionFilter): Promise<readonly SessionRow[]> {
    this.#assertOpen();
    const { appName, userId, agent, parent, status, after } = filter;
    const limit = filter.limit === undefined ? Infinity : parsePosition(filter.limit, 'limit');
    const last = after === undefined ? undefined : this.#get(after);
    return [...this.#sessions.values()]
      .filter(
        (session) =>
          (appName === undefined || session.key.appName === appName) &&
          (userId === undefined || session.key.userId === userId) &&
          (agent === undefined || session.agent === agent) &&
          hasParent(session.key.sessionId, parent) &&
          (status === undefined || session.toRow().status === status) &&
          (last === undefined || newestFirst(last, session) < 0),
      )
      .toSorted(newestFirst)
      .slice(0, limit)
      .map((session) => session.toRow());
  }

  async claim(
    key: SessionKey,
    owner: OwnerId,
  ): Promise<
    | { readonly ok: true; readonly row: SessionRow; readonly recovered: boolean }
    | { readonly ok: false; readonly owned: OwnerId }
  > {
    this.#assertJoined(owner);
    const session = this.#get(key);
    if (session.owner === owner) return { ok: true, row: session.toRow(), recovered: false };
    const recovered = session.summary.inFlight > 0;
    if (recovered && session.owner !== null && this.#owners.has(session.owner))
      return { ok: false, owned: session.owner };
    return this.#write(() => {
      session.owner = owner;
      session.epoch++;
      return { ok: true, row: session.toRow(), recovered };
    });
  }

  async evict(key: SessionKey): Promise<{ readonly evicted: OwnerId | null }> {
    const session = this.#get(key);
    const evicted = session.owner;
    if (evicted === null) return { evicted };
    this.#write(() => {
      session.owner = null;
      session.epoch++;
    });
    this.#feed.publish([session.key]);
    return { evicted };
  }

  async commit(steps: readonly SettledStep[]): Promise<readonly CommitResult[]> {
    this.#assertOpen();
    for (const step of steps) checkStep(step);
    this.#checkNumberings(steps);
    const results = this.#write(() => steps.map((step) => this.#commitOne(step)));
    this.#feed.publish(
      steps.filter((_, index) => results[index]?.ok === true).map(({ key }) => key),
    );
    return results;
  }

  async inject(key: SessionKey, input: InboxInput, dedupeKey: string): Promise<InjectReceipt> {
    parseIdentity(dedupeKey, 'dedupeKey');
    const value = frozenJson(input.value, 'input.value');
    const session = this.#get(key);
    const earlier = session.inputsByKey.get(dedupeKey);
    if (earlier !== undefined) return duplicateReceipt(dedupeKey, earlier);
    const inputSeq = this.#write(() =>
      session.appendInput({ place: input.place, value }, dedupeKey),
    );
    this.#updateBusy(session);
    this.#feed.publish([session.key]);
    return { inputSeq, duplicate: false };
  }

  async submit(submission: Submission): Promise<SubmitResult> {
    const { documents = [], sessions = [], inputs = [] } = submission;
    checkInputs(inputs);
    this.#assertOpen();
    const { result, apply } = this.#documents.plan(documents);
    if (!result.ok) return result;
    const created = sessions.flatMap(({ key, init }) => {
      const parsed = Object.freeze(parseSessionKey(key));
      parseIdentity(init.agent, 'agent');
      if (this.#find(key) !== undefined) return [];
      this.#assertJoined(init.owner);
      return new MemorySession(parsed, { ...init, uid: this.#newUid(), order: ++this.#created });
    });
    const targets = inputs.map(({ key, input, dedupeKey }) => {
      const name = toMapKey(key);
      const session = created.find((one) => toMapKey(one.key) === name) ?? this.#get(key);
      const value = frozenJson(input.value, 'input.value');
      return { session, dedupeKey, input: { place: input.place, value } };
    });
    for (const { session, dedupeKey } of targets) {
      const earlier = session.inputsByKey.get(dedupeKey);
      if (earlier !== undefined) duplicateReceipt(dedupeKey, earlier);
    }
    const receipts = this.#write(() => {
      apply();
      for (const session of created) this.#sessions.set(toMapKey(session.key), session);
      return targets.map(({ session, input, dedupeKey }): InjectReceipt => {
        const earlier = session.inputsByKey.get(dedupeKey);
        if (earlier !== undefined) return { inputSeq: earlier, duplicate: true };
        return { inputSeq: session.appendInput(input, dedupeKey), duplicate: false };
      });
    });
    for (const { session } of targets) this.#updateBusy(session);
    this.#feed.publish(listChangedSessions(inputs, receipts));
    return { ok: true, receipts };
  }

  async inbox(key: SessionKey, after: InputSeq): Promise<readonly InboxRow[]> {
    parsePosition(after, 'after');
    return this.#get(key).inbox.filter(({ inputSeq }) => inputSeq > after);
  }

  async snapshot(
    key: SessionKey,
  ): Promise<{ readonly step: StepNumber; readonly marking: Json } | undefined> {
    return this.#get(key).snapshot;
  }

  async *steps(key: SessionKey, after: StepNumber): AsyncGenerator<CommittedStep, void, undefined> {
    yield* this.#walk(key, (session) => session.steps, parsePosition(after, 'after'));
  }

  async *listSteps(
    key: SessionKey,
    fromRecord: RecordSeq,
  ): AsyncGenerator<CommittedStep, void, undefined> {
    const first = this.#get(key).findStepIndex(parsePosition(fromRecord, 'fromRecord'));
    for await (const step of this.steps(key, first)) {
      if (changesList(step.records)) yield step;
    }
  }

  async *read(key: SessionKey, from: Seq = 0): AsyncGenerator<LogEvent, void, undefined> {
    yield* this.#walk(key, (session) => session.events, parsePosition(from, 'from'));
  }

  async findRunnable(query: {
    readonly owner: OwnerId;
    readonly appName?: string;
    readonly agents?: readonly string[];
    readonly now: number;
    readonly limit: number;
  }): Promise<readonly SessionRow[]> {
    this.#assertOpen();
    return this.#candidates(query)
      .filter(({ summary, inbox }) => {
        const due = summary.nextDueAt !== null && summary.nextDueAt <= query.now;
        return summary.inFlight > 0 || inbox.length > 0 || due;
      })
      .toSorted((a, b) => a.updatedAt - b.updatedAt || a.order - b.order)
      .slice(0, parsePosition(query.limit, 'limit'))
      .map((session) => session.toRow());
  }

  async nextDueAt(query: {
    readonly owner?: OwnerId;
    readonly agents?: readonly string[];
  }): Promise<number | undefined> {
    this.#assertOpen();
    const due = this.#candidates(query).flatMap(({ summary }) => summary.nextDueAt ?? []);
    return due.length === 0 ? undefined : due.reduce((a, b) => Math.min(a, b));
  }

  async recordHydration(key: SessionKey, ok: boolean): Promise<{ readonly quarantined: boolean }> {
    const session = this.#get(key);
    if (ok && session.failures === 0) return { quarantined: false };
    this.#write(() => {
      session.failures = ok ? 0 : session.failures + 1;
    });
    return { quarantined: session.quarantined };
  }

  async shared(scope: { readonly appName: string; readonly userId: string }): Promise<SharedState> {
    this.#assertOpen();
    const entries: [string, Json][] = [];
    const versions: [string, number][] = [];
    for (const name of [toScopeName('app:', scope), toScopeName('user:', scope)]) {
      for (const [key, { value, version }] of this.#shared.get(name) ?? []) {
        if (value !== undefined) entries.push([key, value]);
        versions.push([key, version]);
      }
    }
    return { entries: Object.fromEntries(entries), versions: Object.fromEntries(versions) };
  }

  async delete(key: SessionKey): Promise<boolean> {
    const session = this.#find(key);
    const children = this.#listChildren(key);
    const deletedSessions = session === undefined ? children : [session, ...children];
    if (deletedSessions.length === 0) return false;
    this.#write(() => {
      for (const one of deletedSessions) {
        const name = toMapKey(one.key);
        one.deleted = true;
        this.#sessions.delete(name);
        this.#childrenByRoot.get(toRootMapKey(one.key))?.delete(one);
        this.#busy.delete(one);
        this.#tombstones.add(name);
      }
    });
    this.#feed.publish(deletedSessions.map((one) => one.key));
    return session !== undefined;
  }

  #listChildren(key: SessionKey): readonly MemorySession[] {
    return [...(this.#childrenByRoot.get(toRootMapKey(key)) ?? [])].filter((session) =>
      isDescendantSession(session.key.sessionId, key.sessionId),
    );
  }

  async document(kind: string, id: string): Promise<StoredDocument | undefined> {
    this.#assertOpen();
    return this.#documents.get(kind, id);
  }

  async documents(query: DocumentQuery): Promise<readonly StoredDocument[]> {
    this.#assertOpen();
    return this.#documents.list(query);
  }

  async writeDocuments(changes: readonly DocumentChange[]): Promise<DocumentResult> {
    this.#assertOpen();
    const { result, apply } = this.#documents.plan(changes);
    if (result.ok) this.#write(apply);
    return result;
  }

  subscribe(listener: StoreListener): () => void {
    this.#assertOpen();
    return this.#feed.add(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#owners.clear();
    this.#feed.clear();
  }

  #assertOpen(): void {
    if (this.#closed) throw new StoreClosedError();
  }

  /** Runs a change that has been checked and cannot fail. So `beforeCommit` has nothing to roll back. */
  #write<T>(change: () => T): T {
    this.#assertOpen();
    this.#failpoints.beforeCommit?.();
    const result = change();
    this.#failpoints.afterCommit?.();
    return result;
  }

  #find(key: SessionKey): MemorySession | undefined {
    this.#assertOpen();
    return this.#sessions.get(toMapKey(key));
  }

  #get(key: SessionKey): MemorySession {
    const session = this.#find(key);
    if (session === undefined) throw this.#notFound(key);
    return session;
  }

  #notFound(key: SessionKey): SessionNotFoundError {
    return new SessionNotFoundError(key, this.#tombstones.has(toMapKey(key)));
  }

  #assertJoined(owner: OwnerId): void {
    this.#assertOpen();
    if (this.#owners.has(owner)) return;
    throw new InvalidInputError('owner', 'must join the store before it owns sessions.');
  }

  #checkNumberings(steps: readonly SettledStep[]): void {
    // A batch may have several steps of one session. Each continues the previous one.
    const ends = new Map<MemorySession, SessionEnd>();
    for (const step of steps) {
      const session = this.#find(step.key);
      if (session === undefined) continue;
      const end = ends.get(session) ?? session;
      if (isStale(step, end)) continue;
      checkNumbering(step, end);
      checkConsumed(step, session.lastInput);
      const { uid, owner, epoch } = session;
      const lastRecord = end.lastRecord + step.records.length;
      const lastSeq = end.lastSeq + step.events.length;
      ends.set(session, { uid, owner, epoch, head: step.step, lastRecord, lastSeq });
    }
  }

  #commitOne(step: SettledStep): CommitResult {
    const session = this.#find(step.key);
    if (session === undefined || isStale(step, session)) {
      return { ok: false, refused: 'stale' };
    }
    const keys = findChangedKeys(
      step.shared?.reads ?? {},
      (key) => this.#readShared(step.key, key).version,
    );
    if (keys.length > 0) return { ok: false, refused: 'conflict', keys };
    this.#writeShared(step);
    session.append(step);
    this.#updateBusy(session);
    return { ok: true };
  }

  #writeShared({ key, shared }: SettledStep): void {
    if (shared === undefined) return;
    const written = applySharedWrites(shared.writes, (name) => this.#readShared(key, name).value);
    for (const [name, value] of written) {
      const scope = toScopeName(name, key);
      const values = this.#shared.get(scope) ?? new Map<string, SharedValue>();
      values.set(name, { value, version: this.#readShared(key, name).version + 1 });
      this.#shared.set(scope, values);
    }
  }

  #readShared(key: SessionKey, name: string): SharedValue {
    return this.#shared.get(toScopeName(name, key))?.get(name) ?? { value: undefined, version: 0 };
  }

  #updateBusy(session: MemorySession): void {
    if (session.hasWork) this.#busy.add(session);
    else this.#busy.delete(session);
  }

  #candidates(query: {
    readonly owner?: OwnerId;
    readonly appName?: string;
    readonly agents?: readonly string[];
  }): readonly MemorySession[] {
    const agents = query.agents === undefined ? undefined : new Set(query.agents);
    return [...this.#busy].filter(
      (session) =>
        agents?.has(session.agent) !== false &&
        (query.appName === undefined || query.appName === session.key.appName) &&
        !session.quarantined &&
        session.summary.status !== 'quarantined' &&
        (query.owner === undefined ||
          session.owner === query.owner ||
          session.owner === null ||
          !this.#owners.has(session.owner)),
    );
  }

  async *#walk<T>(
    key: SessionKey,
    selectItems: (session: MemorySession) => readonly T[],
    from: number,
  ): AsyncGenerator<T, void, undefined> {
    const session = this.#get(key);
    const items = selectItems(session);
    for (let index = from; index < items.length; index++) {
      const item = items[index];
      if (item !== undefined) yield item;
      if (session.deleted) throw this.#notFound(key);
    }
  }
}

function toRootMapKey(key: SessionKey): string {
  return toMapKey({ ...key, sessionId: rootSessionId(key.sessionId) });
}

function hasParent(id: SessionId, parent: SessionFilter['parent']): boolean {
  if (parent === undefined) return true;
  return parent === null ? !isChildSessionId(id) : isDescendantSession(id, parent);
}

function toScopeName(
  name: string,
  { appName, userId }: { readonly appName: string; readonly userId: string },
): string {
  return getStateScope(name) === 'app' ? appName : `${appName}\0${userId}`;
}

/** Last changed first; last created first among sessions that changed at the same time. */
function newestFirst(a: MemorySession, b: MemorySession): number {
  return b.updatedAt - a.updatedAt || b.order - a.order;
}
