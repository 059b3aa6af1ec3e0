import type { Agent, ChildAgentOutcome, ChildAgentRequest } from '../agents/index.ts';
import {
  checkOptions,
  childSessionId,
  DEFAULT_MAX_INPUT_BYTES,
  formatSessionKey,
  InvalidInputError,
  optionTable,
  parseSessionKey,
  safeListener,
} from '../core/index.ts';
import type { OptionTable, SessionKey } from '../core/index.ts';
import { systemClock } from '../net/index.ts';
import type { Clock } from '../net/index.ts';
import { createCommitter, type Committer } from './scheduling/committer.ts';
import { createDispatcher, type Dispatcher } from './scheduling/dispatcher.ts';
import { checkSessionId } from '../store/rules/check-session-id.ts';
import { openStore } from '../store/open/open-store.ts';
import { SessionNotFoundError } from '../store/store-errors.ts';
import type { StoreUnavailableError } from '../store/store-errors.ts';
import type {
  InjectReceipt,
  InboxInput,
  SessionRow,
  Store,
  StoreListener,
} from '../store/index.ts';
import type { ArtifactService, MemoryService, Toolset, ToolServices } from '../tools/index.ts';
import { CalledAgents } from './called-agents/called-agents.ts';
import { SESSION_OPTIONS } from './session/session.ts';
import { runInChildSession } from './called-agents/run-in-child-session.ts';
import { composeInterceptors } from './interceptors/interceptor.ts';
import type { ComposedInterceptor, Interceptor } from './interceptors/interceptor.ts';
import { SessionBroadcast } from './log/session-broadcast.ts';
import { openLogCursor } from './log/log-cursor.ts';
import { ModelCallCounts } from './called-agents/model-call-counts.ts';
import type { Observer } from './interceptors/observer.ts';
import {
  AgentMismatchError,
  RuntimeClosedError,
  SessionQuarantinedError,
  UnknownAgentError,
} from './session/runtime-errors.ts';
import { ActiveSessions } from './hosting/active-sessions.ts';
import { SessionHandle } from './session/session-handle.ts';
import type { HandleServices } from './session/session-handle.ts';
import { createInputBatch } from './session/input-batch.ts';
import type { InputBatch, PendingInputs } from './session/input-batch.ts';
import type { Session, SessionOptions } from './session/session.ts';

/** Which agents a runtime runs, over which store, what their tools find there, and who is told of it. */
export interface RuntimeOptions {
  readonly agents: readonly Agent[];
  /** Finds an agent that is not among `agents`, by the name that its sessions keep: asked when a session needs it. */
  readonly findAgent?: (name: string) => Promise<Agent | undefined>;
  /** `memory:` unless said. A store that is given open is not closed with the runtime. */
  readonly store?: string | Store;
  /** Names the application: sessions and state of different ones never meet. `petrichor` unless said. */
  readonly app?: string;
  /** The system's unless said. */
  readonly clock?: Clock;
  /** Where tools and instructions find artifacts, and what is remembered across sessions; without them they are refused. */
  readonly artifacts?: ArtifactService;
  readonly memory?: MemoryService;
  /** Closed with the runtime, when no call uses them any more. Others are closed by whoever opened them. */
  readonly toolsets?: readonly (Toolset & AsyncDisposable)[];
  /**
   * How large a message, an answer or another input may be, in bytes of JSON. Larger ones are refused with
   * InputTooLargeError. Default: 16 MiB.
   */
  readonly maxInputBytes?: number;
  /** See every committed step, in this order. */
  readonly observers?: readonly Observer[];
  /** See more: what a message carries, and calls while they are made. */
  readonly interceptors?: readonly Interceptor[];
  /** Hears what went wrong with a session this runtime looks after, and of observers that throw. */
  readonly onError?: (error: unknown, key?: SessionKey) => void;
}

/** Runs sessions over a store. Several may share one: a session has one owner at a time, and any of them may send to it. */
export interface Runtime extends AsyncDisposable {
  readonly app: string;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly store: Store;
  /**
   * The session of this id: new, or the one that is there, already going on.
   * @throws InvalidInputError for a new id of the form that called agents' sessions have; UnknownAgentError, AgentMismatchError, NetChangedError, SessionQuarantinedError
   */
  session(id: string, options?: SessionOptions): Promise<Session>;
  /** The session of this id, if there is one. */
  find(id: string, options?: { readonly user?: string }): Promise<Session | undefined>;
  /** Inputs that are sent together: all of them or none. */
  batch(): InputBatch;
  /**
   * Newest change first. Sessions in which called agents work are left out; given a `parent`, they are those that work
   * for the session of this id.
   */
  sessions(filter?: {
    readonly user?: string;
    readonly agent?: string;
    readonly parent?: string;
    readonly limit?: number;
    readonly after?: SessionKey;
  }): Promise<readonly SessionRow[]>;
  /**
   * Removes a session and its data, and the sessions of the agents it called; false when there was none. What runs of
   * them is stopped.
   */
  delete(id: string, options?: { readonly user?: string }): Promise<boolean>;
  /** Ends cleanly: stops what runs, waits up to 5 s for it, and lets go of every session. */
  close(): Promise<void>;
}

/** The options of `openRuntime`. */
export const RUNTIME_OPTIONS: OptionTable = optionTable<RuntimeOptions>('openRuntime', {
  maxInputBytes: true,
  agents: true,
  findAgent: true,
  store: true,
  app: true,
  clock: true,
  artifacts: true,
  memory: true,
  toolsets: true,
  observers: true,
  interceptors: true,
  onError: true,
});

const DEFAULT_APP = 'petrichor';
const DEFAULT_USER = 'default';
/** How often to look for sessions that nobody looks after: those of a process that died. */
const SCAN_MS = 500;
const SCAN_LIMIT = 256;
/** A session that is created with its first inputs. */
const NOT_CREATED = { lastSeq: 0, invocationId: undefined, isWaiting: false };
/** How long a closing runtime lets its sessions end; the 5 s that what runs may take are in it. */
const CLOSE_MS = 10_000;

/** @throws what opening the store throws */
export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  checkOptions(RUNTIME_OPTIONS, options);
  const { store: storeOption = 'memory:' } = options;
  const store = typeof storeOption === 'string' ? await openStore(storeOption) : storeOption;
  const runtime = new LocalRuntime(options, store, typeof storeOption === 'string');
  await runtime.start();
  return runtime;
}

class LocalRuntime implements Runtime {
  readonly app: string;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly store: Store;
  readonly #findExternalAgent: RuntimeOptions['findAgent'];
  /** Those that were given, without the agents they call as tools. */
  readonly #mainAgents: readonly string[];
  readonly #ownsStore: boolean;
  readonly #tools: ToolServices;
  readonly #toolsets: readonly AsyncDisposable[];
  readonly #interceptor: ComposedInterceptor;
  readonly #maxInputBytes: number;
  readonly #clock: Clock;
  readonly #owner = `runtime-${globalThis.crypto.randomUUID()}`;
  readonly #broadcast = new SessionBroadcast();
  readonly #activeSessions: ActiveSessions;
  readonly #calledAgents: CalledAgents;
  readonly #committer: Committer;
  readonly #dispatcher: Dispatcher;
  readonly #onError: (error: unknown, key?: SessionKey) => void;
  /** Writes of our own under way: their notices tell us nothing new. */
  #ownWrites = 0;
  #waitingReaders = 0;
  #scanning = false;
  #scanAgain = false;
  #state: 'open' | 'closing' | 'closed' = 'open';
  #unsubscribe: () => void = () => {};
  #cancelScan: () => void = () => {};
  #keepAlive: ReturnType<typeof setInterval> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: RuntimeOptions, store: Store, ownsStore: boolean) {
    this.app = options.app ?? DEFAULT_APP;
    this.agents = new Map([
      ...options.agents.flatMap((agent) => [...agent.children]),
      ...options.agents.map((agent) => [agent.name, agent] as const),
    ]);
    this.#mainAgents = options.agents.map((agent) => agent.name);
    this.#findExternalAgent = options.findAgent;
    this.store = store;
    this.#ownsStore = ownsStore;
    this.#toolsets = options.toolsets ?? [];
    this.#tools = toToolServices(options);
    this.#clock = options.clock ?? systemClock;
    this.#maxInputBytes = parseMaxInputBytes(options);
    this.#onError = safeListener('onError', options.onError);
    const { observers = [], interceptors = [] } = options;
    this.#interceptor = composeInterceptors(
      [...observers.map((observe) => ({ observe })), ...interceptors],
      (error) => this.#onError(error),
    );
    const onUnavailable = (error: StoreUnavailableError): void => this.#onError(error);
    const committer = createCommitter({ store, onUnavailable });
    this.#committer = {
      commit: async (step) => this.#ignoringOwnChanges(async () => committer.commit(step)),
      close: async () => committer.close(),
    };
    this.#calledAgents = new CalledAgents({
      store,
      inject: async (key, input, dedupeKey) => this.#inject(key, input, dedupeKey),
      interrupt: async (key) => this.#interrupt(key),
      onError: (error, key) => {
        if (this.#state === 'open') this.#onError(error, key);
      },
    });
    this.#activeSessions = new ActiveSessions({
      store,
      committer: this.#committer,
      clock: this.#clock,
      broadcast: this.#broadcast,
      owner: this.#owner,
      observe: this.#interceptor.observe,
      interceptCall: this.#interceptor.interceptCall,
      services: this.#tools,
      runChild: async (parent, request) => this.#runChild(parent, request),
      calledAgents: this.#calledAgents,
      modelCalls: new ModelCallCounts(store),
      findAgent: async (name) => this.#findAgent(name),
      ignoringOwnChanges: async (write) => this.#ignoringOwnChanges(write),
      schedule: (key, at) => this.#dispatcher.schedule(key, at),
      onError: this.#onError,
      isOpen: () => this.#state === 'open',
    });
    this.#dispatcher = createDispatcher({
      drive: async (key) => this.#drive(key),
      onError: (key, error) => this.#onError(error, key),
      clock: this.#clock,
    });
  }

  async start(): Promise<void> {
    await this.store.join(this.#owner);
    this.#unsubscribe = this.store.subscribe((changed) => this.#onStoreChange(changed));
    await this.#scan();
  }

  async session(id: string, options: SessionOptions = {}): Promise<Session> {
    checkOptions(SESSION_OPTIONS, options);
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
    const name = options.agent ?? found?.agent ?? this.#defaultAgentName();
    const agent = await this.#getAgent(name);
    if (found !== undefined && found.agent !== name)
      throw new AgentMismatchError(id, found.agent, name);
    if (found === undefined) {
      const init = {
        agent: name,
        owner: this.#owner,
        at: this.#clock.now(),
        netHash: agent.compiled.hash,
      };
      const { row } = await this.#ignoringOwnChanges(async () => this.store.create(key, init));
      if (row.agent !== name) throw new AgentMismatchError(id, row.agent, name);
    }
    if (found?.status === 'quarantined') throw new SessionQuarantinedError(id);
    if (found !== undefined) this.#activeSessions.evictStale(found);
    const isHosted = this.#activeSessions.get(key) !== undefined;
    await this.#drive(key);
    this.#activeSessions.assertRunnable(key);
    if (found !== undefined) await this.#recheckCalledAgents(found, agent, isHosted);
    return this.#createHandle(key, agent);
  }

  async find(id: string, options: { readonly user?: string } = {}): Promise<Session | undefined> {
    this.#assertOpen();
    const key = this.#key(id, options.user);
    const row = await this.store.find(key);
    if (row === undefined) return undefined;
    this.#activeSessions.evictStale(row);
    const agent = await this.#getAgent(row.agent);
    const isHosted = this.#activeSessions.get(key) !== undefined;
    if (row.status !== 'quarantined') this.#dispatcher.schedule(key);
    await this.#recheckCalledAgents(row, agent, isHosted);
    return this.#createHandle(key, agent);
  }

  batch(): InputBatch {
    return createInputBatch({
      open: async (id, options, inputs) => this.#openForBatch(id, options, inputs),
      submit: async (submission) => {
        this.#assertOpen();
        const result = await this.#ignoringOwnChanges(async () => this.store.submit(submission));
        const { sessions = [], inputs = [] } = submission;
        for (const { key } of [...sessions, ...inputs]) this.#dispatcher.schedule(key);
        return result;
      },
    });
  }

  async sessions(
    filter: {
      readonly user?: string;
      readonly agent?: string;
      readonly parent?: string;
      readonly limit?: number;
      readonly after?: SessionKey;
    } = {},
  ): Promise<readonly SessionRow[]> {
    const { user, parent = null, ...rest } = filter;
    return this.store.list({
      appName: this.app,
      parent,
      ...(user !== undefined && { userId: user }),
      ...rest,
    });
  }

  async delete(id: string, options: { readonly user?: string } = {}): Promise<boolean> {
    const key = this.#key(id, options.user);
    const children = await this.store.list({ ...key, parent: key.sessionId });
    const deleted = await this.store.delete(key);
    for (const deletedKey of [key, ...children.map((child) => child.key)]) {
      this.#activeSessions.evict(deletedKey);
      this.#broadcast.publish(formatSessionKey(deletedKey), ['changed']);
    }
    return deleted;
  }

  async close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #closeToolsets(): Promise<void> {
    const closing = this.#toolsets.map(async (set) => set[Symbol.asyncDispose]());
    for (const outcome of await Promise.allSettled(closing)) {
      if (outcome.status === 'rejected') this.#onError(outcome.reason);
    }
  }

  async #close(): Promise<void> {
    this.#state = 'closing';
    this.#cancelScan();
    this.#unsubscribe();
    await this.#dispatcher.close();
    // A store that cannot take the last steps is not waited for without end.
    const giveUp = this.#clock.at(this.#clock.now() + CLOSE_MS, () => void this.#committer.close());
    await this.#activeSessions.closeAll();
    giveUp();
    await this.#committer.close();
    await this.#closeToolsets();
    // An owner that cannot be forgotten now is gone all the same.
    await this.store.leave(this.#owner).catch(this.#onError);
    if (this.#ownsStore) await this.store.close();
    this.#state = 'closed';
    clearInterval(this.#keepAlive);
    this.#keepAlive = undefined;
    this.#broadcast.publishAll(['changed']);
  }

  async #drive(key: SessionKey): Promise<void> {
    await this.#activeSessions.drive(key);
    if (this.#activeSessions.get(key)?.isQuiescent === false) this.#keepProcessAlive();
  }

  #onStoreChange(changed: Parameters<StoreListener>[0]): void {
    if (changed === 'any') {
      this.#broadcast.publishAll(['changed']);
      void this.#scan();
      return;
    }
    if (this.#ownWrites > 0) return;
    for (const key of changed) {
      this.#broadcast.publish(formatSessionKey(key), ['changed']);
      if (this.#activeSessions.get(key) !== undefined) this.#dispatcher.schedule(key);
      // A living owner looks after its own: only what has none is ours to take.
      else void this.#scan();
    }
  }

  /** Wakes the sessions that need someone: unread input, a timer, or an owner that died. */
  async #scan(): Promise<void> {
    if (this.#state !== 'open') return;
    this.#scanAgain = this.#scanning;
    if (this.#scanning) return;
    this.#scanning = true;
    this.#cancelScan();
    const now = this.#clock.now();
    let next = now + SCAN_MS;
    try {
      // Who finds agents by name can look after any session.
      const agents =
        this.#findExternalAgent === undefined ? { agents: [...this.agents.keys()] } : {};
      const rows = await this.store.findRunnable({
        owner: this.#owner,
        appName: this.app,
        ...agents,
        now,
        // Those we host or cannot run are among them, and must not keep the others out of sight.
        limit: this.#activeSessions.size + SCAN_LIMIT,
      });
      for (const row of rows) {
        this.#activeSessions.evictStale(row);
        if (row.inboxPending || this.#activeSessions.get(row.key) === undefined)
          this.#dispatcher.schedule(row.key);
      }
      this.#activeSessions.evictIdle(now);
      const due = await this.store.nextDueAt({ owner: this.#owner, ...agents });
      if (due !== undefined && due > now) next = Math.min(next, due);
    } catch (error) {
      this.#onError(error);
    } finally {
      this.#scanning = false;
      this.#updateKeepAlive();
      // What changed while it looked may have changed behind its back.
      if (this.#scanAgain) void this.#scan();
      else this.#scheduleScan(next);
    }
  }

  #scheduleScan(at: number): void {
    this.#cancelScan();
    if (this.#state !== 'open') return;
    // The time may have come while it looked.
    if (at <= this.#clock.now()) void this.#scan();
    else this.#cancelScan = this.#clock.at(at, () => void this.#scan());
  }

  /** The process stays while a session of ours runs or someone waits for its log. Looks at every session, so not for every input. */
  #updateKeepAlive(): void {
    const busy = this.#waitingReaders > 0 || this.#activeSessions.isBusy;
    if (busy && this.#state !== 'closed') {
      this.#keepProcessAlive();
    } else {
      clearInterval(this.#keepAlive);
      this.#keepAlive = undefined;
    }
  }

  /** The process stays until `#hold` finds no more reason. */
  #keepProcessAlive(): void {
    if (this.#state !== 'closed')
      this.#keepAlive ??= setInterval(() => this.#updateKeepAlive(), SCAN_MS);
  }

  /** A session whose inputs wait; one that is not there is created with them. */
  async #openForBatch(
    id: string,
    options: SessionOptions,
    waiting: PendingInputs,
  ): ReturnType<Parameters<typeof createInputBatch>[0]['open']> {
    this.#assertOpen();
    const key = this.#key(id, options.user);
    const found = await this.store.find(key);
    const agent = await this.#getAgent(options.agent ?? found?.agent ?? this.#defaultAgentName());
    if (found === undefined) checkSessionId(id);
    else await this.session(id, options);
    const session = new SessionHandle(key, agent, {
      ...this.#handleServices,
      inject: async (to, input, dedupeKey) => waiting.inject(to, input, dedupeKey),
      unread: async (of) => [
        ...(await this.#handleServices.unread(of)),
        ...waiting.forSession(of).map(({ input }) => input),
      ],
      // One that is not there yet stands at its beginning.
      ...(found === undefined && {
        findHosted: (of) => this.#activeSessions.get(of) ?? NOT_CREATED,
      }),
    });
    if (found !== undefined) return { session };
    const init = {
      agent: agent.name,
      owner: this.#owner,
      at: this.#clock.now(),
      netHash: agent.compiled.hash,
    };
    return { session, created: { key, init } };
  }

  /** What a crash kept a session and the agents that it called from telling each other. */
  async #recheckCalledAgents(row: SessionRow, agent: Agent, isHosted: boolean): Promise<void> {
    await this.#calledAgents.resumeSettledCalls(row);
    if (row.status === 'idle' && agent.children.size > 0 && !isHosted)
      await this.#calledAgents.interruptOrphans(row.key);
  }

  #createHandle(key: SessionKey, agent: Agent): Session {
    return new SessionHandle(key, agent, this.#handleServices);
  }

  get #handleServices(): HandleServices {
    return {
      store: this.store,
      artifacts: this.#tools.artifacts,
      propagateContext: () => this.#interceptor.propagateContext(),
      maxInputBytes: this.#maxInputBytes,
      inject: async (key, input, dedupeKey) => this.#inject(key, input, dedupeKey),
      readLog: (...watching) => this.#readLog(...watching),
      unread: async (key) => (await this.store.inbox(key, 0)).map(({ input }) => input),
      findHosted: (key) => this.#activeSessions.get(key),
      findAuthorName: async (agent) => this.#findAuthorName(agent),
      release: async (key) => this.#activeSessions.close(key),
      open: async (key, agent) => this.session(key.sessionId, { user: key.userId, agent }),
    };
  }

  async #inject(key: SessionKey, input: InboxInput, dedupeKey: string): Promise<InjectReceipt> {
    this.#assertOpen();
    const receipt = await this.#ignoringOwnChanges(async () =>
      this.store.inject(key, input, dedupeKey),
    );
    this.#dispatcher.schedule(key);
    return receipt;
  }

  #readLog(
    ...[key, from, { follow = true, signal }, selection]: Parameters<HandleServices['readLog']>
  ): ReturnType<typeof openLogCursor> {
    return openLogCursor({
      store: this.store,
      broadcast: this.#broadcast,
      session: formatSessionKey(key),
      key,
      from,
      follow,
      signal,
      filter: selection,
      // Only for who waits for what an input of ours brings: should the session be another's by now, that input shows it.
      isAtEnd: (seq) => selection !== undefined && this.#activeSessions.get(key)?.lastSeq === seq,
      isClosed: () => this.#state === 'closed',
      assertCanWait: () => this.#activeSessions.assertRunnable(key),
      onWaiting: (waiting) => {
        this.#waitingReaders += waiting ? 1 : -1;
        if (waiting) this.#keepProcessAlive();
      },
    });
  }

  async #interrupt(key: SessionKey): Promise<void> {
    const row = await this.store.find(key);
    if (row !== undefined)
      await this.#createHandle(key, await this.#getAgent(row.agent)).interrupt();
  }

  async #findAuthorName(name: string): Promise<string> {
    const agent = await this.#findAgent(name);
    return agent?.author ?? agent?.name ?? name;
  }

  async #runChild(parent: SessionKey, request: ChildAgentRequest): Promise<ChildAgentOutcome> {
    const id = childSessionId(parent.sessionId, request.firingId);
    const options = { user: parent.userId, agent: request.agentName };
    const child = await this.#session(
      id,
      options,
      await this.store.find(this.#key(id, options.user)),
    );
    const caller = await this.store.find(parent);
    if (caller === undefined || !request.firingId.startsWith(`${caller.uid}/`)) {
      // Deleted while its agent was called: what the call made goes too.
      await this.delete(id, options);
      throw new SessionNotFoundError(parent, true);
    }
    return runInChildSession(
      { session: child, authorName: await this.#findAuthorName(request.agentName) },
      request,
    );
  }

  async #ignoringOwnChanges<T>(write: () => Promise<T>): Promise<T> {
    this.#ownWrites++;
    try {
      return await write();
    } finally {
      this.#ownWrites--;
    }
  }

  #key(sessionId: string, userId: string = DEFAULT_USER): SessionKey {
    return parseSessionKey({ appName: this.app, userId, sessionId });
  }

  async #findAgent(name: string): Promise<Agent | undefined> {
    return this.agents.get(name) ?? (await this.#findExternalAgent?.(name));
  }

  async #getAgent(name: string): Promise<Agent> {
    const agent = await this.#findAgent(name);
    if (agent === undefined) throw new UnknownAgentError(name, [...this.agents.keys()]);
    return agent;
  }

  #defaultAgentName(): string {
    const names = this.#mainAgents;
    const [only] = names;
    if (only === undefined || names.length > 1) throw new UnknownAgentError('(none named)', names);
    return only;
  }

  #assertOpen(): void {
    if (this.#state !== 'open') throw new RuntimeClosedError();
  }
}

function toToolServices({ artifacts, memory }: RuntimeOptions): ToolServices {
  return { ...(artifacts !== undefined && { artifacts }), ...(memory !== undefined && { memory }) };
}

/** @throws InvalidInputError */
function parseMaxInputBytes({ maxInputBytes = DEFAULT_MAX_INPUT_BYTES }: RuntimeOptions): number {
  if (Number.isSafeInteger(maxInputBytes) && maxInputBytes > 0) return maxInputBytes;
  throw new InvalidInputError(
    'maxInputBytes',
    `must be a whole number above 0; it is ${maxInputBytes}.`,
  );
}
