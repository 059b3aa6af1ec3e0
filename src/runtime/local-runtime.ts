import { omitUndefined } from '../core/internal.ts';
import type { Agent, ChildAgentOutcome } from '../agents/index.ts';
import {
  checkOptions,
  childSessionId,
  formatSessionKey,
  InvalidInputError,
  isChildSessionId,
  rootSessionId,
  parseSessionKey,
  safeListener,
} from '../core/index.ts';
import type { QuotaStatus, SessionKey } from '../core/index.ts';
import { systemClock } from '../net/index.ts';
import type { Clock } from '../net/index.ts';
import { createCommitter, type Committer } from './scheduling/committer.ts';
import { closeInTime, type CloseLimit } from './scheduling/close-in-time.ts';
import { createDispatcher, type Dispatcher } from './scheduling/dispatcher.ts';
import { DriveRequests } from './scheduling/drive-requests.ts';
import type { SessionDispatcher } from './scheduling/session-dispatcher.ts';
import { repeatWhileUnavailable } from './scheduling/repeat-while-unavailable.ts';
import {
  checkSessionId,
  SessionNotFoundError,
  StoreClosedError,
  type StoreUnavailableError,
} from '../store/internal.ts';
import type {
  SessionInit,
  SessionRow,
  Store,
  StoreListener,
  Submission,
  SubmitResult,
  UsageTotal,
} from '../store/index.ts';
import type { ArtifactService, ToolServices } from '../tools/index.ts';
import { CalledAgents } from './called-agents/called-agents.ts';
import { SESSION_OPTIONS } from './session/session.ts';
import { runInChildSession } from './called-agents/run-in-child-session.ts';
import type { ChildCall } from './called-agents/run-in-child-session.ts';
import { AgentInterceptors } from './interceptors/agent-interceptors.ts';
import { SessionBroadcast } from './log/session-broadcast.ts';
import { openLogCursor } from './log/log-cursor.ts';
import { ModelCallCounts } from './called-agents/model-call-counts.ts';
import {
  AgentMismatchError,
  CloseTimeoutError,
  RuntimeClosedError,
  SessionQuarantinedError,
  UnknownAgentError,
} from './session/runtime-errors.ts';
import { AgentRegistry } from './sources/agent-registry.ts';
import type { AgentSource, OpenAgentSource } from './sources/agent-source.ts';
import { isAgentSource, closeAgentSources } from './sources/open-agent-sources.ts';
import type { ActiveSessions } from './hosting/active-sessions.ts';
import { createActiveSessions } from './hosting/create-active-sessions.ts';
import { Failover } from './hosting/failover.ts';
import { KeepAlive } from './hosting/keep-alive.ts';
import type { NamedModels } from './sources/named-models.ts';
import {
  DEFAULT_APP,
  parseCloseTimeoutMs,
  parseMaxInputBytes,
  toToolServices,
} from './runtime-options.ts';
import type { RuntimeOptions } from './runtime-options.ts';
import { MarkingHistory } from './inspection/marking-history.ts';
import type { SessionInspection } from './inspection/session-inspection.ts';
import { SessionInspector } from './inspection/session-inspector.ts';
import type { InspectionServices } from './inspection/session-inspector.ts';
import { scopeServices } from './hosting/hosted-session.ts';
import { ChangeReader } from './listing/change-reader.ts';
import {
  listPendingCallPage,
  PENDING_OPTIONS,
  type PendingCallPage,
  type PendingCallPageOptions,
  type PendingCallSource,
} from './listing/pending-call-listing.ts';
import {
  followSessionChanges,
  SESSION_CHANGES_OPTIONS,
  type ChangeSource,
  type SessionChangeEvent,
  type SessionChangesOptions,
} from './listing/session-changes.ts';
import {
  WATCH_PENDING_OPTIONS,
  watchPendingCalls,
  type PendingCallChange,
  type WatchPendingOptions,
} from './listing/watch-pending-calls.ts';
import { withStorageQuota } from './quotas/quota-artifacts.ts';
import { QuotaLedger } from './quotas/quota-ledger.ts';
import { parseQuotas } from './quotas/quotas.ts';
import { DRAIN_OPTIONS, QUOTA_OPTIONS, SESSION_LIST_OPTIONS, USAGE_OPTIONS } from './runtime.ts';
import type {
  DrainOptions,
  QuotaOptions,
  Runtime,
  SessionListOptions,
  UsageOptions,
} from './runtime.ts';
import { LocalScheduledSessions } from './schedules/local-scheduled-sessions.ts';
import { LocalSchedules } from './schedules/local-schedules.ts';
import { parseScheduleAgentName, ScheduleAgents } from './schedules/schedule-agent.ts';
import { scheduleNet } from './schedules/schedule-net.ts';
import type { Schedules } from './schedules/schedules.ts';
import { SessionHandle } from './session/session-handle.ts';
import type { HandleServices } from './session/handle-services.ts';
import { createInputBatch } from './session/input-batch.ts';
import type { InputBatch, PendingInputs } from './session/input-batch.ts';
import { Submissions } from './session/submissions.ts';
import type { Session, SessionOptions } from './session/session.ts';

const DEFAULT_USER = 'default';
/** The position of a session that is created together with its first inputs. */
const NOT_CREATED = { lastSeq: 0, status: 'queued', activity: 'idle' } as const;
/**
 * How long `close` waits for submitted inputs to be written, and for steps to be committed. It includes the 5 s grace
 * period of running effects.
 */
const CLOSE_MS = 10_000;
const DRAIN_TIMEOUT_MS = 30_000;

/** The sessions of one app, run in this process. */
export class LocalRuntime implements Runtime {
  readonly app: string;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly agentNames: readonly string[];
  readonly sources: readonly AgentSource[];
  readonly store: Store;
  readonly artifacts: ArtifactService | undefined;
  readonly schedules: Schedules;
  readonly #registry: AgentRegistry;
  readonly #openSources: readonly OpenAgentSource[];
  readonly #ownsStore: boolean;
  readonly #tools: ToolServices;
  readonly #toolsets: readonly AsyncDisposable[];
  readonly #interceptors: AgentInterceptors;
  readonly #maxInputBytes: number;
  readonly #closeTimeoutMs: number;
  readonly #clock: Clock;
  readonly #owner = `runtime-${globalThis.crypto.randomUUID()}`;
  readonly #broadcast = new SessionBroadcast();
  readonly #activeSessions: ActiveSessions;
  readonly #calledAgents: CalledAgents;
  readonly #committer: Committer;
  readonly #dispatcher: Dispatcher;
  readonly #sessionDispatcher: SessionDispatcher | undefined;
  readonly #onError: (error: unknown, key?: SessionKey) => void;
  readonly #failover: Failover;
  readonly #keepAlive: KeepAlive;
  readonly #history: MarkingHistory;
  readonly #changeReader: ChangeReader;
  readonly #quotas: QuotaLedger | undefined;
  readonly #submissions: Submissions;
  /** The same for all handles. */
  readonly #handleServices: HandleServices;
  /** Writes of this runtime in progress. Change notices that arrive meanwhile bring nothing new. */
  #ownWrites = 0;
  #state: 'open' | 'closing' | 'closed' = 'open';
  #unsubscribe: () => void = () => {};
  #closed: Promise<void> | undefined;
  #drained: Promise<void> | undefined;

  constructor(
    options: RuntimeOptions,
    {
      store,
      ownsStore,
      models,
      sources,
    }: {
      readonly store: Store;
      readonly ownsStore: boolean;
      readonly models: NamedModels;
      readonly sources: readonly OpenAgentSource[];
    },
  ) {
    this.app = options.app ?? DEFAULT_APP;
    const scheduleAgents = this.#createScheduleAgents(store, options.clock ?? systemClock);
    this.#registry = new AgentRegistry(sources, models, scheduleAgents);
    this.agents = this.#registry.byName;
    this.agentNames = this.#registry.ownNames;
    this.sources = options.agents.filter(isAgentSource);
    this.store = store;
    this.#history = new MarkingHistory(store);
    this.#openSources = sources;
    this.#ownsStore = ownsStore;
    this.#toolsets = options.toolsets ?? [];
    this.#clock = options.clock ?? systemClock;
    this.#quotas = this.#createQuotas(options);
    this.#tools = this.#createToolServices(options);
    this.artifacts = this.#tools.artifacts;
    this.#sessionDispatcher = options.dispatcher;
    const driveRequests = this.#createDriveRequests(options);
    this.#maxInputBytes = parseMaxInputBytes(options);
    this.#closeTimeoutMs = parseCloseTimeoutMs(options);
    this.#onError = safeListener('onError', options.onError);
    const { observers = [], interceptors = [] } = options;
    this.#interceptors = new AgentInterceptors({
      own: [...observers.map((observe) => ({ observe })), ...interceptors],
      listAdded: (agentName) => this.#registry.listInterceptors(agentName),
      onError: (error) => this.#onError(error),
    });
    const onUnavailable = (error: StoreUnavailableError): void => this.#onError(error);
    this.#committer = createCommitter({ store, onUnavailable, onCommit: () => this.#beginWrite() });
    this.#calledAgents = new CalledAgents({
      store,
      inject: async (key, input, dedupeKey) => {
        this.#assertOpen();
        return this.#submissions.write({ key, input, dedupeKey });
      },
      interrupt: async (key) => this.#interrupt(key),
      onError: (error, key) => {
        if (this.#state === 'open') this.#onError(error, key);
      },
    });
    this.#activeSessions = createActiveSessions({
      store,
      committer: this.#committer,
      clock: this.#clock,
      broadcast: this.#broadcast,
      owner: this.#owner,
      findInterceptor: async (row) => this.#interceptors.get(await this.#findRootAgent(row)),
      services: this.#tools,
      resolveModel: async (model, agentName) => models.resolve(model, agentName),
      runChild: async (parent, request) => this.#runChild(parent, request),
      calledAgents: this.#calledAgents,
      modelCalls: new ModelCallCounts(store, () => this.#state === 'open'),
      checkQuota: this.#quotas?.checkModelCall.bind(this.#quotas),
      attachments: options.live,
      findAgent: async (name) => this.#registry.find(name),
      ignoringOwnChanges: async (write) => this.#ignoringOwnChanges(write),
      schedule: (key, at) => this.#dispatcher.schedule(key, at),
      driveRequests,
      onBusy: () => this.#keepAlive.hold(),
      onError: this.#onError,
      isOpen: () => this.#state === 'open' && this.#drained === undefined,
    });
    this.#dispatcher = createDispatcher({
      drive: this.#activeSessions.drive.bind(this.#activeSessions),
      onError: (key, error) => this.#onError(error, key),
      clock: this.#clock,
    });
    this.#submissions = new Submissions({
      store,
      accept: this.#activeSessions.accept.bind(this.#activeSessions),
      onWrite: () => this.#beginWrite(),
      schedule: this.#dispatcher.schedule.bind(this.#dispatcher),
    });
    this.#keepAlive = new KeepAlive(() => this.#activeSessions.isBusy);
    this.#changeReader = new ChangeReader({
      store,
      app: this.app,
      clock: this.#clock,
      onWaiting: (waiting) => this.#keepAlive.readerWaits(waiting),
    });
    this.#failover = new Failover({
      store,
      owner: this.#owner,
      appName: this.app,
      agents: this.#registry.runnable,
      clock: this.#clock,
      activeSessions: this.#activeSessions,
      schedule: (key) => this.#dispatcher.schedule(key),
      sweep: driveRequests === undefined ? undefined : { mayContinue: () => driveRequests.isReady },
      onScanned: () => this.#keepAlive.check(),
      onError: this.#onError,
    });
    this.schedules = this.#createSchedules(scheduleAgents);
    this.#handleServices = this.#createHandleServices();
    options.live?.onOpened?.({ isBusyElsewhere: async (key) => this.#isBusyElsewhere(key) });
  }

  #createToolServices(options: RuntimeOptions): ToolServices {
    const { artifacts, ...services } = toToolServices(options);
    const quotas = this.#quotas;
    if (artifacts === undefined || quotas?.limitsStorage !== true)
      return { ...services, ...omitUndefined({ artifacts }) };
    const check = async (user: string, bytes: number): Promise<void> =>
      quotas.checkStorage(user, bytes);
    return { ...services, artifacts: withStorageQuota(artifacts, check) };
  }

  #createQuotas({ quotas, artifacts }: RuntimeOptions): QuotaLedger | undefined {
    if (quotas === undefined) return undefined;
    return new QuotaLedger({
      app: this.app,
      store: this.store,
      artifacts,
      quotas: parseQuotas(quotas),
      now: () => this.#clock.now(),
      isOpen: () => this.#state === 'open',
    });
  }

  #createDriveRequests({ dispatcher }: RuntimeOptions): DriveRequests | undefined {
    if (dispatcher === undefined) return undefined;
    const onError = (error: unknown): void => this.#onError(error);
    return new DriveRequests({ dispatcher, store: this.store, onError });
  }

  #createScheduleAgents(store: Store, { now }: Clock): ScheduleAgents {
    const sessions = new LocalScheduledSessions({
      app: this.app,
      store,
      now,
      createBatch: () => this.batch(),
      find: async (id, options) => this.find(id, options),
      checkNewSession: async (agent) => this.#registry.checkNewSession(agent),
    });
    return new ScheduleAgents(scheduleNet(sessions));
  }

  #createSchedules(agents: ScheduleAgents): Schedules {
    return new LocalSchedules({
      app: this.app,
      owner: this.#owner,
      store: this.store,
      now: () => this.#clock.now(),
      agents,
      getAgent: async (name) => this.#registry.getForCaller(name ?? this.#registry.defaultName),
      submit: async (submission) => this.#submit(submission),
      checkQuota: async (user) => this.#quotas?.checkNewSchedule(user),
      delete: async ({ sessionId, userId }) => this.delete(sessionId, { user: userId }),
      onChange: (key, listener) => this.#onRecords(key, listener),
      isClosed: () => this.#state !== 'open',
      assertRunnable: async (key) => this.#activeSessions.checkRunnable(key),
    });
  }

  async start(): Promise<void> {
    await this.store.join(this.#owner);
    this.#unsubscribe = this.store.subscribe((changed, origin) =>
      this.#onStoreChange(changed, origin),
    );
    await this.#sessionDispatcher?.start({
      app: this.app,
      drive: async (key) => this.#activeSessions.driveToRest(key),
      onError: this.#onError,
    });
    await this.#failover.scan();
  }

  /** Claims the session first, if its owner is dead. */
  async #isBusyElsewhere(key: SessionKey): Promise<boolean> {
    const row = await this.store.find(key);
    if (row === undefined || row.owner === null || row.owner === this.#owner) return false;
    if (row.inFlight === 0) return false;
    // A live connection needs the session in this process.
    await this.#activeSessions.drive(key, row, true);
    this.#activeSessions.assertRunnable(key);
    return this.#activeSessions.get(key) === undefined;
  }

  async session(id: string, options: SessionOptions = {}): Promise<Session> {
    checkOptions(SESSION_OPTIONS, options);
    this.#assertOpen();
    const found = await this.store.find(this.#key(id, options.user));
    if (found === undefined) checkSessionId(id);
    return this.#session(id, options, found);
  }

  async #session(
    id: string,
    options: SessionOptions,
    found: SessionRow | undefined,
  ): Promise<Session> {
    this.#assertOpen();
    const key = this.#key(id, options.user);
    const name = options.agent ?? found?.agent ?? this.#registry.defaultName;
    const agent = await this.#registry.getForCaller(name);
    let row = found;
    if (found !== undefined && found.agent !== name)
      throw new AgentMismatchError(id, found.agent, name);
    if (found === undefined) {
      await this.#checkNewSession(key);
      const init = this.#toSessionInit(name, agent);
      ({ row } = await this.#ignoringOwnChanges(async () => this.store.create(key, init)));
      if (row.agent !== name) throw new AgentMismatchError(id, row.agent, name);
    }
    if (found?.status === 'quarantined') throw new SessionQuarantinedError(id);
    if (found !== undefined) this.#activeSessions.evictStale(found);
    const isHosted = this.#activeSessions.get(key) !== undefined;
    await this.#activeSessions.drive(key, row);
    this.#activeSessions.assertRunnable(key);
    if (found !== undefined) await this.#recheckCalledAgents(found, agent, isHosted);
    return this.#createHandle(key, agent);
  }

  /** A session that starts itself is due at once: if this process ends before its first step, another one finds it. */
  #toSessionInit(name: string, agent: Agent): SessionInit {
    const at = this.#clock.now();
    return {
      agent: name,
      owner: this.#owner,
      at,
      netHash: agent.compiled.hash,
      ...(this.#activeSessions.startsByItself(agent) && { nextDueAt: at }),
    };
  }

  async find(id: string, options: { readonly user?: string } = {}): Promise<Session | undefined> {
    this.#assertOpen();
    const key = this.#key(id, options.user);
    const row = await this.store.find(key);
    if (row === undefined || parseScheduleAgentName(row.agent) !== undefined) return undefined;
    this.#activeSessions.evictStale(row);
    const agent = await this.#registry.get(row.agent);
    const isHosted = this.#activeSessions.get(key) !== undefined;
    if (row.status !== 'quarantined') this.#dispatcher.schedule(key);
    await this.#recheckCalledAgents(row, agent, isHosted);
    return this.#createHandle(key, agent);
  }

  async inspect(
    id: string,
    options: { readonly user?: string } = {},
  ): Promise<SessionInspection | undefined> {
    this.#assertOpen();
    const key = this.#key(id, options.user);
    const row = await this.store.find(key);
    if (row === undefined) return undefined;
    const agent = await this.#registry.get(row.agent).catch((error: unknown) => {
      if (error instanceof UnknownAgentError) return error;
      throw error;
    });
    return new SessionInspector(key, agent, this.#inspectionServices);
  }

  batch(): InputBatch {
    const planned = new Map<string, string>();
    return createInputBatch({
      open: async (id, options, inputs) => this.#openForBatch(id, options, inputs, planned),
      submit: async (submission) => this.#submit(submission),
    });
  }

  async #submit(submission: Submission): Promise<SubmitResult> {
    const { sessions = [], inputs = [] } = submission;
    const targets = inputs.map(({ key }) => key);
    const result = await this.#submissions.run(async () =>
      this.#submissions.writeBatch(targets, async () =>
        this.#ignoringOwnChanges(async () => this.store.submit(submission)),
      ),
    );
    for (const { key } of [...sessions, ...inputs]) this.#dispatcher.schedule(key);
    return result;
  }

  async sessions(filter: SessionListOptions = {}): Promise<readonly SessionRow[]> {
    checkOptions(SESSION_LIST_OPTIONS, filter);
    const { user, parent = null, ...rest } = filter;
    return this.store.list({
      appName: this.app,
      parent,
      ...omitUndefined({ userId: user }),
      ...rest,
    });
  }

  async pending(filter: PendingCallPageOptions = {}): Promise<PendingCallPage> {
    checkOptions(PENDING_OPTIONS, filter);
    this.#assertOpen();
    return listPendingCallPage(this.#listingSource, filter);
  }

  watchPending(filter: WatchPendingOptions = {}): AsyncIterable<PendingCallChange> {
    checkOptions(WATCH_PENDING_OPTIONS, filter);
    this.#assertOpen();
    return watchPendingCalls(this.#listingSource, filter);
  }

  changes(options: SessionChangesOptions = {}): AsyncIterable<SessionChangeEvent> {
    checkOptions(SESSION_CHANGES_OPTIONS, options);
    this.#assertOpen();
    return followSessionChanges(this.#listingSource, options);
  }

  async usage(options: UsageOptions = {}): Promise<readonly UsageTotal[]> {
    checkOptions(USAGE_OPTIONS, options);
    this.#assertOpen();
    const { by = [], user, ...rest } = options;
    return this.store.usage({
      appName: this.app,
      by,
      ...omitUndefined({ userId: user }),
      ...rest,
    });
  }

  async quotas(options: QuotaOptions = {}): Promise<readonly QuotaStatus[]> {
    checkOptions(QUOTA_OPTIONS, options);
    this.#assertOpen();
    const { user, scope } = options;
    if (scope !== undefined && (scope !== 'app' || user !== undefined))
      throw new InvalidInputError(
        'scope',
        'must be "app", without a user. Pass one of them, or omit both for all quotas.',
      );
    return (scope === 'app' ? this.#quotas?.reportApp() : this.#quotas?.report(user)) ?? [];
  }

  async delete(
    id: string,
    { user, uid }: { readonly user?: string; readonly uid?: string } = {},
  ): Promise<boolean> {
    const key = this.#key(id, user);
    const children = await this.store.list({ ...key, parent: key.sessionId });
    const isIt = uid === undefined || (await this.store.find(key))?.uid === uid;
    const deleted = isIt && (await this.store.delete(key));
    for (const deletedKey of [key, ...children.map((child) => child.key)]) {
      // Another session with the id may run here by now.
      if (uid === undefined || deletedKey !== key || this.#activeSessions.get(key)?.uid === uid)
        this.#activeSessions.evict(deletedKey);
      this.#broadcast.publish(formatSessionKey(deletedKey), ['changed']);
    }
    return deleted;
  }

  async drain(options: DrainOptions = {}): Promise<void> {
    checkOptions(DRAIN_OPTIONS, options);
    this.#assertOpen();
    const { timeoutMs = DRAIN_TIMEOUT_MS } = options;
    if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 0)
      throw new InvalidInputError(
        'timeoutMs',
        `must be an integer of at least 0; it is ${timeoutMs}.`,
      );
    this.#drained ??= this.#drain(timeoutMs);
    await this.#drained;
  }

  async #drain(timeoutMs: number): Promise<void> {
    this.#failover.stop();
    const giveUp = this.#giveUpCommitsAfter(timeoutMs + CLOSE_MS);
    await this.#activeSessions.drain(timeoutMs);
    giveUp();
  }

  /** Bounds the wait for a store that cannot commit the last steps. Returns a function that lifts the bound. */
  #giveUpCommitsAfter(ms: number): () => void {
    return this.#clock.at(this.#clock.now() + ms, () => void this.#committer.close());
  }

  async close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #closeDispatcher(): Promise<void> {
    const dispatcher = this.#sessionDispatcher;
    if (dispatcher === undefined) return;
    const limit = this.#closeLimit;
    if (await closeInTime(async () => dispatcher.close(), limit)) return;
    this.#onError(new CloseTimeoutError('dispatcher', 'the dispatcher', limit.timeoutMs));
  }

  async #closeToolsets(): Promise<void> {
    const limit = this.#closeLimit;
    await Promise.all(
      this.#toolsets.map(async (toolset, index) => {
        if (await closeInTime(async () => toolset[Symbol.asyncDispose](), limit)) return;
        const part = `toolsets[${index}]`;
        this.#onError(new CloseTimeoutError(part, 'a toolset', limit.timeoutMs));
      }),
    );
  }

  get #closeLimit(): CloseLimit {
    return { clock: this.#clock, timeoutMs: this.#closeTimeoutMs, onError: this.#onError };
  }

  async #close(): Promise<void> {
    this.#state = 'closing';
    this.#changeReader.close();
    // An input that is accepted from here on waits in its inbox for the next owner of the session.
    const submitted = this.#submissions.close(this.#clock, CLOSE_MS);
    this.#failover.stop();
    this.#unsubscribe();
    await this.#dispatcher.close();
    const giveUp = this.#giveUpCommitsAfter(CLOSE_MS);
    await this.#activeSessions.closeAll();
    await this.#closeDispatcher();
    giveUp();
    await this.#committer.close();
    await submitted;
    await this.#closeToolsets();
    await closeAgentSources(this.#openSources, this.#closeLimit);
    // A failure here is harmless: the other owners detect that this one is gone.
    await this.store.leave(this.#owner).catch(this.#onError);
    if (this.#ownsStore) await this.store.close();
    this.#state = 'closed';
    this.#keepAlive.close();
    this.#broadcast.publishAll(['changed']);
  }

  #onStoreChange(...[changed, origin]: Parameters<StoreListener>): void {
    this.#changeReader.notify();
    if (changed === 'any') {
      void this.#activeSessions.publishForeignChanges();
      if (origin === 'input') void this.#failover.scan();
      return;
    }
    if (origin !== 'here') {
      this.#onForeignChange(changed, origin === 'input');
      return;
    }
    if (this.#ownWrites > 0) {
      // The notice can be of another runtime on this store object. Its readers here must not miss the last event.
      for (const key of changed)
        if (this.#activeSessions.get(key) === undefined)
          this.#broadcast.publish(formatSessionKey(key), ['changed']);
      return;
    }
    for (const key of changed) {
      this.#broadcast.publish(formatSessionKey(key), ['changed']);
      if (this.#activeSessions.get(key) !== undefined) this.#dispatcher.schedule(key);
      // A live owner handles its sessions. A scan finds the session only if it has none.
      else if (this.#sessionDispatcher === undefined) void this.#failover.scan();
    }
  }

  /**
   * Another process changed these sessions. Reads nothing for sessions that are neither hosted nor read here, so that
   * the work of a session does not grow with the number of processes.
   */
  #onForeignChange(changed: readonly SessionKey[], mayNeedOwner: boolean): void {
    let unhosted = 0;
    for (const key of changed) {
      this.#broadcast.publish(formatSessionKey(key), ['changed']);
      if (this.#activeSessions.get(key) === undefined) unhosted++;
      else this.#dispatcher.schedule(key);
    }
    // Whoever sent the input usually runs the session, too. If not, the last owner does.
    if (mayNeedOwner && unhosted > 0 && this.#sessionDispatcher === undefined)
      void this.#failover.scan();
  }

  /** Opens a session whose inputs wait for `submit`. A session that does not exist is created by `submit`. */
  async #openForBatch(
    id: string,
    options: SessionOptions,
    waiting: PendingInputs,
    /** The users of the sessions that the batch will create, by the session. */
    planned: Map<string, string>,
  ): ReturnType<Parameters<typeof createInputBatch>[0]['open']> {
    this.#assertOpen();
    const key = this.#key(id, options.user);
    const found = await this.store.find(key);
    const agent = await this.#registry.getForCaller(
      options.agent ?? found?.agent ?? this.#registry.defaultName,
    );
    if (found === undefined) {
      checkSessionId(id);
      const name = formatSessionKey(key);
      const others = [...planned].filter(([other]) => other !== name);
      if (!isChildSessionId(id)) planned.set(name, key.userId);
      try {
        await this.#checkNewSession(
          key,
          others.map(([, user]) => user),
        );
      } catch (error) {
        planned.delete(name);
        throw error;
      }
    } else await this.#session(id, options, found);
    const session = new SessionHandle(key, agent, {
      ...this.#handleServices,
      // `submit` of the batch writes the inputs. A closing runtime cannot wait for a call that may never come.
      submit: async (prepare) => {
        this.#assertOpen();
        return waiting.inject(await prepare());
      },
      listUnread: async (target) => [
        ...(found === undefined ? [] : await this.#handleServices.listUnread(target)),
        ...waiting.forSession(target).map(({ input }) => input),
      ],
      // All inputs of a batch are checked against the session as the batch found it, and against those before them.
      ...omitUndefined({ readRow: found === undefined ? undefined : async () => found }),
      findHosted: (target) =>
        found === undefined || waiting.findClosing(target) !== undefined
          ? undefined
          : this.#activeSessions.get(target),
      readPosition: async (target) => {
        const position = found ?? NOT_CREATED;
        return { ...position, status: waiting.findClosing(target) ?? position.status };
      },
    });
    if (found !== undefined) return { session };
    const init = this.#toSessionInit(agent.name, agent);
    return { session, created: { key, init } };
  }

  /** Repeats the notifications between a session and the agents it called that a crash may have lost. */
  /** The agent whose hooks a session has: for a called agent's session, the agent of the session it was called from. */
  async #findRootAgent({ key, agent }: SessionRow): Promise<string> {
    if (!this.#registry.hasInterceptors || !isChildSessionId(key.sessionId)) return agent;
    const root = await this.store.find({ ...key, sessionId: rootSessionId(key.sessionId) });
    return root?.agent ?? agent;
  }

  async #recheckCalledAgents(row: SessionRow, agent: Agent, isHosted: boolean): Promise<void> {
    await this.#calledAgents.resumeSettledCalls(row);
    if (row.activity === 'idle' && agent.children.size > 0 && !isHosted)
      await this.#calledAgents.interruptOrphans(row.key);
  }

  #createHandle(key: SessionKey, agent: Agent): Session {
    return new SessionHandle(key, agent, this.#handleServices);
  }

  get #listingSource(): PendingCallSource & ChangeSource {
    return {
      store: this.store,
      app: this.app,
      changeReader: this.#changeReader,
      findAuthorName: async (agent) => this.#registry.findAuthorName(agent),
    };
  }

  #createHandleServices(): HandleServices {
    return {
      store: this.store,
      read: async (read) => this.#read(read),
      readRow: async (key) => this.#read(async () => this.store.find(key)),
      readPosition: async (key) => this.#read(async () => this.store.find(key)),
      isClosed: () => this.#state === 'closed',
      artifacts: this.#tools.artifacts,
      propagateContext: (agentName) => this.#interceptors.get(agentName).propagateContext(),
      now: () => this.#clock.now(),
      maxInputBytes: this.#maxInputBytes,
      submit: this.#submissions.submit.bind(this.#submissions),
      readLog: (...args) => this.#readLog(...args),
      listUnread: async (key) => (await this.store.inbox(key, 0)).map(({ input }) => input),
      findHosted: (key) => this.#activeSessions.get(key),
      checkNewSession: async (key) => this.#checkNewSession(key),
      findAuthorName: async (agent) => this.#registry.findAuthorName(agent),
      inspect: (key, agent) => new SessionInspector(key, agent, this.#inspectionServices),
      release: async (key) => this.#activeSessions.close(key),
      open: async (key, agent) => this.session(key.sessionId, { user: key.userId, agent }),
    };
  }

  get #inspectionServices(): InspectionServices {
    return {
      store: this.store,
      history: this.#history,
      getTools: (key) => scopeServices(key, this.#tools),
      onChange: (key, listener) => this.#onRecords(key, listener),
      isClosed: () => this.#state === 'closed',
      onWaiting: (waiting) => this.#keepAlive.readerWaits(waiting),
    };
  }

  /** Notifies of commits to a session, also those without events, and when this runtime closes. */
  #onRecords(key: SessionKey, listener: () => void): () => void {
    const session = formatSessionKey(key);
    const stops = [
      this.#broadcast.subscribe(session, listener),
      this.store.subscribe((changed) => {
        if (changed === 'any' || changed.some((one) => formatSessionKey(one) === session))
          listener();
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  #readLog(
    ...[key, from, { follow = true, signal }, filter]: Parameters<HandleServices['readLog']>
  ): ReturnType<typeof openLogCursor> {
    return openLogCursor({
      store: this.store,
      broadcast: this.#broadcast,
      session: formatSessionKey(key),
      key,
      from,
      follow,
      signal,
      filter,
      // Only when the reader waits for the effects of an input of this runtime: if another runtime owns the session by
      // now, injecting that input has shown it.
      isAtEnd: (seq) => filter !== undefined && this.#activeSessions.get(key)?.lastSeq === seq,
      isClosed: () => this.#state === 'closed',
      assertCanWait: () => this.#activeSessions.checkRunnable(key),
      onWaiting: (waiting) => this.#keepAlive.readerWaits(waiting),
    });
  }

  async #interrupt(key: SessionKey): Promise<void> {
    const row = await this.store.find(key);
    if (row !== undefined)
      await this.#createHandle(key, await this.#registry.get(row.agent)).interrupt();
  }

  async #runChild(parent: SessionKey, request: ChildCall): Promise<ChildAgentOutcome> {
    // A repeated request continues the same turn of the called agent.
    return repeatWhileUnavailable(async () => this.#tryChild(parent, request), {
      isOpen: () => this.#state === 'open' && !request.signal.aborted,
    });
  }

  async #tryChild(parent: SessionKey, request: ChildCall): Promise<ChildAgentOutcome> {
    const id = childSessionId(parent.sessionId, request.firingId);
    const options = { user: parent.userId, agent: request.agentName };
    const child = await this.#session(
      id,
      options,
      await this.store.find(this.#key(id, options.user)),
    );
    const caller = await this.store.find(parent);
    if (caller === undefined || !request.firingId.startsWith(`${caller.uid}/`)) {
      // The calling session was deleted during the call: delete the child session too.
      await this.delete(id, options);
      throw new SessionNotFoundError(parent, true);
    }
    return runInChildSession(
      { session: child, authorName: await this.#registry.findAuthorName(request.agentName) },
      request,
    );
  }

  /** @throws QuotaExceededError */
  async #checkNewSession(
    { sessionId, userId }: SessionKey,
    planned: readonly string[] = [],
  ): Promise<void> {
    // The sessions of called agents belong to that of the caller.
    if (!isChildSessionId(sessionId)) await this.#quotas?.checkNewSession(userId, planned);
  }

  async #ignoringOwnChanges<T>(write: () => Promise<T>): Promise<T> {
    const onDone = this.#beginWrite();
    try {
      return await write();
    } finally {
      onDone();
    }
  }

  /** Returns the function that ends the write. */
  #beginWrite(): () => void {
    this.#ownWrites++;
    return () => {
      this.#ownWrites--;
    };
  }

  #key(sessionId: string, userId: string = DEFAULT_USER): SessionKey {
    return parseSessionKey({ appName: this.app, userId, sessionId });
  }

  async #read<T>(read: () => Promise<T>): Promise<T> {
    if (this.#state === 'closed') throw new RuntimeClosedError();
    try {
      return await read();
    } catch (error) {
      if (this.#state !== 'open' && error instanceof StoreClosedError)
        throw new RuntimeClosedError();
      throw error;
    }
  }

  #assertOpen(): void {
    if (this.#state !== 'open') throw new RuntimeClosedError();
  }
}
