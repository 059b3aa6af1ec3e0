import { isChildSessionId, isChildSessionOf, rootSessionId } from '../core/child-session-id.ts';
import { frozenJson } from '../core/frozen-json.ts';
import { newSessionUid, type SessionId } from '../core/ids.ts';
import { InvalidInputError } from '../core/invalid-input-error.ts';
import type { Json } from '../core/json.ts';
import type { LogEvent, Seq } from '../core/log-event.ts';
import { parseIdentity, parseSessionKey, type SessionKey } from '../core/session-key.ts';
import { stateScopeOf } from '../core/state-key.ts';
import type { RecordSeq } from '../net/record.ts';
import { ChangeFeed } from './change-feed.ts';
import { duplicateReceipt } from './dedupe-key.ts';
import type { DocumentChange, DocumentQuery, DocumentResult, StoredDocument } from './documents.ts';
import type { Failpoints } from './failpoints.ts';
import { changesList } from './list-change.ts';
import { MemoryDocuments } from './memory-documents.ts';
import { MemorySession } from './memory-session.ts';
import { parsePosition } from './position.ts';
import { applyShared, movedKeys } from './apply-shared.ts';
import { changedBy, checkInputs } from './submission-rules.ts';
import { checkConsumed, checkNumbering, checkStep, isStale } from './step-rules.ts';
import { SessionNotFoundError, StoreClosedError } from './store-errors.ts';
import type {
  CommitResult,
  CommittedStep,
  InboxRow,
  InjectReceipt,
  Input,
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
} from './store.ts';

/** How a store in memory names sessions, and where a test may stop it. */
export interface MemoryStoreOptions {
  /** Names incarnations of sessions; random unless given. */
  readonly newUid?: () => string;
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

/** A store in memory: nothing survives the process. Several runtimes may share one. */
export class MemoryStore implements Store {
  readonly durability = 'process' as const;

  readonly #newUid: () => string;
  readonly #failpoints: Failpoints;
  readonly #feed = new ChangeFeed();
  readonly #sessions = new Map<string, MemorySession>();
  /** The sessions of called agents, by the session that was sent the message. */
  readonly #childrenByRoot = new Map<string, Set<MemorySession>>();
  /** Those that may need someone: what the scheduler looks at, however many idle ones there are. */
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
    this.#open();
    this.#owners.add(parseIdentity(owner, 'owner'));
  }

  async leave(owner: OwnerId): Promise<void> {
    this.#open();
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
    const present = this.#lookUp(key);
    if (present !== undefined) return { row: present.row(), created: false };
    this.#mustHaveJoined(init.owner);
    return this.#write(() => {
      const session = new MemorySession(parsed, {
        ...init,
        uid: this.#newUid(),
        order: ++this.#created,
      });
      this.#sessions.set(nameOf(parsed), session);
      if (isChildSessionId(parsed.sessionId)) {
        const root = rootNameOf(parsed);
        this.#childrenByRoot.set(
          root,
          (this.#childrenByRoot.get(root) ?? new Set<MemorySession>()).add(session),
        );
      }
      return { row: session.row(), created: true };
    });
  }

  async find(key: SessionKey): Promise<SessionRow | undefined> {
    return this.#lookUp(key)?.row();
  }

  async list(filter: SessionFilter): Promise<readonly SessionRow[]> {
    this.#open();
    const { appName, userId, agent, parent, status, after } = filter;
    const limit = filter.limit === undefined ? Infinity : parsePosition(filter.limit, 'limit');
    const last = after === undefined ? undefined : this.#get(after);
    return [...this.#sessions.values()]
      .filter(
        (session) =>
          (appName === undefined || session.key.appName === appName) &&
          (userId === undefined || session.key.userId === userId) &&
          (agent === undefined || session.agent === agent) &&
          isOfParent(session.key.sessionId, parent) &&
          (status === undefined || session.row().status === status) &&
          (last === undefined || newestFirst(last, session) < 0),
      )
      .toSorted(newestFirst)
      .slice(0, limit)
      .map((session) => session.row());
  }

  async claim(
    key: SessionKey,
    owner: OwnerId,
  ): Promise<
    | { readonly ok: true; readonly row: SessionRow; readonly recovered: boolean }
    | { readonly ok: false; readonly owned: OwnerId }
  > {
    this.#mustHaveJoined(owner);
    const session = this.#get(key);
    if (session.owner === owner) return { ok: true, row: session.row(), recovered: false };
    const recovered = session.summary.inFlight > 0;
    if (recovered && session.owner !== null && this.#owners.has(session.owner))
      return { ok: false, owned: session.owner };
    return this.#write(() => {
      session.owner = owner;
      session.epoch++;
      return { ok: true, row: session.row(), recovered };
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
    this.#feed.tell([session.key]);
    return { evicted };
  }

  async commit(steps: readonly SettledStep[]): Promise<readonly CommitResult[]> {
    this.#open();
    for (const step of steps) checkStep(step);
    this.#checkNumberings(steps);
    const results = this.#write(() => steps.map((step) => this.#commitOne(step)));
    this.#feed.tell(steps.filter((_, index) => results[index]?.ok === true).map(({ key }) => key));
    return results;
  }

  async inject(key: SessionKey, input: Input, dedupeKey: string): Promise<InjectReceipt> {
    parseIdentity(dedupeKey, 'dedupeKey');
    const value = frozenJson(input.value, 'input.value');
    const session = this.#get(key);
    const earlier = session.inputsByKey.get(dedupeKey);
    if (earlier !== undefined) return duplicateReceipt(dedupeKey, earlier);
    const inputSeq = this.#write(() => session.receive({ place: input.place, value }, dedupeKey));
    this.#sort(session);
    this.#feed.tell([session.key]);
    return { inputSeq, duplicate: false };
  }

  async submit(submission: Submission): Promise<SubmitResult> {
    const { documents = [], sessions = [], inputs = [] } = submission;
    checkInputs(inputs);
    this.#open();
    const { result, apply } = this.#documents.plan(documents);
    if (!result.ok) return result;
    const made = sessions.flatMap(({ key, init }) => {
      const parsed = Object.freeze(parseSessionKey(key));
      parseIdentity(init.agent, 'agent');
      if (this.#lookUp(key) !== undefined) return [];
      this.#mustHaveJoined(init.owner);
      return new MemorySession(parsed, { ...init, uid: this.#newUid(), order: ++this.#created });
    });
    const targets = inputs.map(({ key, input, dedupeKey }) => {
      const session = made.find((one) => nameOf(one.key) === nameOf(key)) ?? this.#get(key);
      const value = frozenJson(input.value, 'input.value');
      return { session, dedupeKey, input: { place: input.place, value } };
    });
    for (const { session, dedupeKey } of targets) {
      const earlier = session.inputsByKey.get(dedupeKey);
      if (earlier !== undefined) duplicateReceipt(dedupeKey, earlier);
    }
    const receipts = this.#write(() => {
      apply();
      for (const session of made) this.#sessions.set(nameOf(session.key), session);
      return targets.map(({ session, input, dedupeKey }): InjectReceipt => {
        const earlier = session.inputsByKey.get(dedupeKey);
        if (earlier !== undefined) return { inputSeq: earlier, duplicate: true };
        return { inputSeq: session.receive(input, dedupeKey), duplicate: false };
      });
    });
    for (const { session } of targets) this.#sort(session);
    this.#feed.tell(changedBy(inputs, receipts));
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
    const first = this.#get(key).stepWithRecord(parsePosition(fromRecord, 'fromRecord'));
    for await (const step of this.steps(key, first)) {
      if (changesList(step.records)) yield step;
    }
  }

  async *read(key: SessionKey, from: Seq = 0): AsyncGenerator<LogEvent, void, undefined> {
    yield* this.#walk(key, (session) => session.events, parsePosition(from, 'from'));
  }

  async needingWork(query: {
    readonly owner: OwnerId;
    readonly appName?: string;
    readonly agents?: readonly string[];
    readonly now: number;
    readonly limit: number;
  }): Promise<readonly SessionRow[]> {
    this.#open();
    return this.#candidates(query)
      .filter(({ summary, inbox }) => {
        const due = summary.nextDueAt !== null && summary.nextDueAt <= query.now;
        return summary.inFlight > 0 || inbox.length > 0 || due;
      })
      .toSorted((a, b) => a.updatedAt - b.updatedAt || a.order - b.order)
      .slice(0, parsePosition(query.limit, 'limit'))
      .map((session) => session.row());
  }

  async nextDueAt(query: {
    readonly owner?: OwnerId;
    readonly agents?: readonly string[];
  }): Promise<number | undefined> {
    this.#open();
    const due = this.#candidates(query).flatMap(({ summary }) => summary.nextDueAt ?? []);
    return due.length === 0 ? undefined : due.reduce((a, b) => Math.min(a, b));
  }

  async hydrated(key: SessionKey, ok: boolean): Promise<{ readonly quarantined: boolean }> {
    const session = this.#get(key);
    if (ok && session.failures === 0) return { quarantined: false };
    this.#write(() => {
      session.failures = ok ? 0 : session.failures + 1;
    });
    return { quarantined: session.quarantined };
  }

  async shared(scope: { readonly appName: string; readonly userId: string }): Promise<SharedState> {
    this.#open();
    const entries: [string, Json][] = [];
    const versions: [string, number][] = [];
    for (const name of [sharedScope('app:', scope), sharedScope('user:', scope)]) {
      for (const [key, { value, version }] of this.#shared.get(name) ?? []) {
        if (value !== undefined) entries.push([key, value]);
        versions.push([key, version]);
      }
    }
    return { entries: Object.fromEntries(entries), versions: Object.fromEntries(versions) };
  }

  async delete(key: SessionKey): Promise<boolean> {
    const session = this.#lookUp(key);
    const children = this.#childrenOf(key);
    const gone = session === undefined ? children : [session, ...children];
    if (gone.length === 0) return false;
    this.#write(() => {
      for (const one of gone) {
        const name = nameOf(one.key);
        one.deleted = true;
        this.#sessions.delete(name);
        this.#childrenByRoot.get(rootNameOf(one.key))?.delete(one);
        this.#busy.delete(one);
        this.#tombstones.add(name);
      }
    });
    this.#feed.tell(gone.map((one) => one.key));
    return session !== undefined;
  }

  #childrenOf(key: SessionKey): readonly MemorySession[] {
    return [...(this.#childrenByRoot.get(rootNameOf(key)) ?? [])].filter((session) =>
      isChildSessionOf(session.key.sessionId, key.sessionId),
    );
  }

  async document(kind: string, id: string): Promise<StoredDocument | undefined> {
    this.#open();
    return this.#documents.get(kind, id);
  }

  async documents(query: DocumentQuery): Promise<readonly StoredDocument[]> {
    this.#open();
    return this.#documents.list(query);
  }

  async writeDocuments(changes: readonly DocumentChange[]): Promise<DocumentResult> {
    this.#open();
    const { result, apply } = this.#documents.plan(changes);
    if (result.ok) this.#write(apply);
    return result;
  }

  subscribe(listener: StoreListener): () => void {
    this.#open();
    return this.#feed.add(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#owners.clear();
    this.#feed.clear();
  }

  #open(): void {
    if (this.#closed) throw new StoreClosedError();
  }

  /** Everything is judged before: what `change` does cannot fail, so the failpoint before it undoes nothing. */
  #write<T>(change: () => T): T {
    this.#open();
    this.#failpoints.beforeCommit?.();
    const result = change();
    this.#failpoints.afterCommit?.();
    return result;
  }

  #lookUp(key: SessionKey): MemorySession | undefined {
    this.#open();
    return this.#sessions.get(nameOf(key));
  }

  #get(key: SessionKey): MemorySession {
    const session = this.#lookUp(key);
    if (session === undefined) throw this.#notFound(key);
    return session;
  }

  #notFound(key: SessionKey): SessionNotFoundError {
    return new SessionNotFoundError(key, this.#tombstones.has(nameOf(key)));
  }

  #mustHaveJoined(owner: OwnerId): void {
    this.#open();
    if (this.#owners.has(owner)) return;
    throw new InvalidInputError('owner', 'must join the store before it owns sessions.');
  }

  #checkNumberings(steps: readonly SettledStep[]): void {
    // A batch may hold several steps of one session: each continues the one before it.
    const ends = new Map<MemorySession, SessionEnd>();
    for (const step of steps) {
      const session = this.#lookUp(step.key);
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
    const session = this.#lookUp(step.key);
    if (session === undefined || isStale(step, session)) {
      return { ok: false, refused: 'stale' };
    }
    const keys = movedKeys(
      step.shared?.reads ?? {},
      (key) => this.#sharedAt(step.key, key).version,
    );
    if (keys.length > 0) return { ok: false, refused: 'conflict', keys };
    this.#writeShared(step);
    session.append(step);
    this.#sort(session);
    return { ok: true };
  }

  #writeShared({ key, shared }: SettledStep): void {
    if (shared === undefined) return;
    const written = applyShared(shared.writes, (name) => this.#sharedAt(key, name).value);
    for (const [name, value] of written) {
      const scope = sharedScope(name, key);
      const values = this.#shared.get(scope) ?? new Map<string, SharedValue>();
      values.set(name, { value, version: this.#sharedAt(key, name).version + 1 });
      this.#shared.set(scope, values);
    }
  }

  #sharedAt(key: SessionKey, name: string): SharedValue {
    return this.#shared.get(sharedScope(name, key))?.get(name) ?? { value: undefined, version: 0 };
  }

  #sort(session: MemorySession): void {
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
    of: (session: MemorySession) => readonly T[],
    from: number,
  ): AsyncGenerator<T, void, undefined> {
    const session = this.#get(key);
    const items = of(session);
    for (let index = from; index < items.length; index++) {
      const item = items[index];
      if (item !== undefined) yield item;
      if (session.deleted) throw this.#notFound(key);
    }
  }
}

function nameOf({ appName, userId, sessionId }: SessionKey): string {
  return `${appName}\0${userId}\0${sessionId}`;
}

function rootNameOf(key: SessionKey): string {
  return nameOf({ ...key, sessionId: rootSessionId(key.sessionId) });
}

function isOfParent(id: SessionId, parent: SessionFilter['parent']): boolean {
  if (parent === undefined) return true;
  return parent === null ? !isChildSessionId(id) : isChildSessionOf(id, parent);
}

function sharedScope(
  name: string,
  { appName, userId }: { readonly appName: string; readonly userId: string },
): string {
  return stateScopeOf(name) === 'app' ? appName : `${appName}\0${userId}`;
}

/** Later changed first; among those that changed at once, later made first. */
function newestFirst(a: MemorySession, b: MemorySession): number {
  return b.updatedAt - a.updatedAt || b.order - a.order;
}
