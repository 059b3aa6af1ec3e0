import type { Agent, ChildOutcome, ChildRequest } from '../agents/index.ts';
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
import { createCommitter } from '../store/committer.ts';
import { createDispatcher } from '../store/dispatcher.ts';
import { checkSessionId } from '../store/check-session-id.ts';
import { openStore } from '../store/open-store.ts';
import { SessionNotFoundError } from '../store/store-errors.ts';
import type { StoreUnavailableError } from '../store/store-errors.ts';
import type {
  Committer,
  Dispatcher,
  InjectReceipt,
  Input,
  SessionRow,
  Store,
  StoreListener,
} from '../store/index.ts';
import type { ArtifactService, MemoryService, Toolset, ToolServices } from '../tools/index.ts';
import { CalledAgents } from './called-agents.ts';
import { SESSION_OPTIONS } from './session.ts';
import { runInChild } from './child-session.ts';
import { chainInstruments } from './instrument.ts';
import type { ChainedInstrument, Instrument } from './instrument.ts';
import { LiveFeed } from './live-feed.ts';
import { logCursor } from './log-cursor.ts';
import { ModelCallCounts } from './model-call-counts.ts';
import type { Observer } from './observer.ts';
import {
  AgentMismatchError,
  RuntimeClosedError,
  SessionQuarantinedError,
  UnknownAgentError,
} from './runtime-errors.ts';
import { SessionHosts } from './session-hosts.ts';
import { SessionHandle } from './session-handle.ts';
import type { HandleServices } from './session-handle.ts';
import { createInputBatch } from './input-batch.ts';
import type { InputBatch, WaitingInputs } from './input-batch.ts';
import type { Session, SessionOptions } from './session.ts';

/** Which agents a runtime runs, over which store, what their tools find there, and who is told of it. */
export interface RuntimeOptions {
  readonly agents: readonly Agent[];
  /** Finds an agent that is not among `agents`, by the name that its sessions keep: asked when a session needs it. */
  readonly agentOf?: (name: string) => Promise<Agent | undefined>;
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
  readonly instruments?: readonly Instrument[];
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
  agentOf: true,
  store: true,
  app: true,
  clock: true,
  artifacts: true,
  memory: true,
  toolsets: true,
  observers: true,
  instruments: true,
  onError: true,
});

const DEFAULT_APP = 'petrichor';
const DEFAULT_USER = 'default';
/** How often to look for sessions that nobody looks after: those of a process that died. */
const SCAN_MS = 500;
const SCAN_LIMIT = 256;
/** A session that is created with its first inputs. */
const NOT_BEGUN = { lastSeq: 0, invocationId: undefined, isWaiting: false };
/** How long a closing runtime lets its sessions end; the 5 s that what runs may take are in it. */
const CLOSE_MS = 10_000;

/** @throws what opening the store throws */
export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  checkOptions(RUNTIME_OPTIONS, options);
  const { store: given = 'memory:' } = options;
  const store = typeof given === 'string' ? await openStore(given) : given;
  const runtime = new LocalRuntime(options, store, typeof given === 'string');
  await runtime.start();
  return runtime;
}

class LocalRuntime implements Runtime {
  readonly app: string;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly store: Store;
  readonly #agentOf: RuntimeOptions['agentOf'];
  /** Those that were given, without the agents they call as tools. */
  readonly #mainAgents: readonly string[];
  readonly #ownsStore: boolean;
  readonly #tools: ToolServices;
  readonly #toolsets: readonly AsyncDisposable[];
  readonly #instrument: ChainedInstrument;
  readonly #maxInputBytes: number;
  readonly #clock: Clock;
  readonly #owner = `runtime-${globalThis.crypto.randomUUID()}`;
  readonly #feed = new LiveFeed();
  readonly #hosts: SessionHosts;
  readonly #called: CalledAgents;
  readonly #committer: Committer;
  readonly #dispatcher: Dispatcher;
  readonly #onError: (error: unknown, key?: SessionKey) => void;
  /** Writes of our own under way: their notices tell us nothing new. */
  #writing = 0;
  #waiting = 0;
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
    this.#agentOf = options.agentOf;
    this.store = store;
    this.#ownsStore = ownsStore;
    this.#toolsets = options.toolsets ?? [];
    this.#tools = toolServicesOf(options);
    this.#clock = options.clock ?? systemClock;
    this.#maxInputBytes = maxInputBytesIn(options);
    this.#onError = safeListener('onError', options.onError);
    const { observers = [], instruments = [] } = options;
    this.#instrument = chainInstruments(
      [...observers.map((observe) => ({ observe })), ...instruments],
      (error) => this.#onError(error),
    );
    const unavailable = (error: StoreUnavailableError): void => this.#onError(error);
    const committer = createCommitter({ store, unavailable });
    this.#committer = {
      commit: async (step) => this.#own(async () => committer.commit(step)),
      close: async () => committer.close(),
    };
    this.#called = new CalledAgents({
      store,
      inject: async (key, input, dedupeKey) => this.#inject(key, input, dedupeKey),
      interrupt: async (key) => this.#interrupt(key),
      onError: (error, key) => {
        if (this.#state === 'open') this.#onError(error, key);
      },
    });
    this.#hosts = new SessionHosts({
      store,
      committer: this.#committer,
      clock: this.#clock,
      feed: this.#feed,
      owner: this.#owner,
      observe: this.#instrument.observe,
      watch: this.#instrument.watch,
      services: this.#tools,
      runChild: async (parent, request) => this.#runChild(parent, request),
      called: this.#called,
      modelCalls: new ModelCallCounts(store),
      agentOf: async (name) => this.#lookUp(name),
      own: async (write) => this.#own(write),
      wake: (key, at) => this.#dispatcher.wake(key, at),
      onError: this.#onError,
      isOpen: () => this.#state === 'open',
    });
    this.#dispatcher = createDispatcher({
      drive: async (key) => this.#drive(key),
      failed: (key, error) => this.#onError(error, key),
      clock: this.#clock,
    });
  }

  async start(): Promise<void> {
    await this.store.join(this.#owner);
    this.#unsubscribe = this.store.subscribe((changed) => this.#changed(changed));
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
    this.#mustBeOpen();
    const key = this.#key(id, options.user);
    const name = options.agent ?? found?.agent ?? this.#onlyAgent();
    const agent = await this.#agent(name);
    if (found !== undefined && found.agent !== name)
      throw new AgentMismatchError(id, found.agent, name);
    if (found === undefined) {
      const init = {
        agent: name,
        owner: this.#owner,
        at: this.#clock.now(),
        netHash: agent.compiled.hash,
      };
      const { row } = await this.#own(async () => this.store.create(key, init));
      if (row.agent !== name) throw new AgentMismatchError(id, row.agent, name);
    }
    if (found?.status === 'quarantined') throw new SessionQuarantinedError(id);
    if (found !== undefined) this.#hosts.forgetFormer(found);
    const isHosted = this.#hosts.get(key) !== undefined;
    await this.#drive(key);
    this.#hosts.mustRun(key);
    if (found !== undefined) await this.#checkCalled(found, agent, isHosted);
    return this.#handle(key, agent);
  }

  async find(id: string, options: { readonly user?: string } = {}): Promise<Session | undefined> {
    this.#mustBeOpen();
    const key = this.#key(id, options.user);
    const row = await this.store.find(key);
    if (row === undefined) return undefined;
    this.#hosts.forgetFormer(row);
    const agent = await this.#agent(row.agent);
    const isHosted = this.#hosts.get(key) !== undefined;
    if (row.status !== 'quarantined') this.#dispatcher.wake(key);
    await this.#checkCalled(row, agent, isHosted);
    return this.#handle(key, agent);
  }

  batch(): InputBatch {
    return createInputBatch({
      open: async (id, options, inputs) => this.#openForBatch(id, options, inputs),
      submit: async (submission) => {
        this.#mustBeOpen();
        const result = await this.#own(async () => this.store.submit(submission));
        const { sessions = [], inputs = [] } = submission;
        for (const { key } of [...sessions, ...inputs]) this.#dispatcher.wake(key);
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
    for (const gone of [key, ...children.map((child) => child.key)]) {
      this.#hosts.forget(gone);
      this.#feed.tell(formatSessionKey(gone), ['changed']);
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
    await this.#hosts.closeAll();
    giveUp();
    await this.#committer.close();
    await this.#closeToolsets();
    // An owner that cannot be forgotten now is gone all the same.
    await this.store.leave(this.#owner).catch(this.#onError);
    if (this.#ownsStore) await this.store.close();
    this.#state = 'closed';
    clearInterval(this.#keepAlive);
    this.#keepAlive = undefined;
    this.#feed.tellAll(['changed']);
  }

  async #drive(key: SessionKey): Promise<void> {
    await this.#hosts.drive(key);
    if (this.#hosts.get(key)?.isQuiet === false) this.#stay();
  }

  #changed(changed: Parameters<StoreListener>[0]): void {
    if (changed === 'any') {
      this.#feed.tellAll(['changed']);
      void this.#scan();
      return;
    }
    if (this.#writing > 0) return;
    for (const key of changed) {
      this.#feed.tell(formatSessionKey(key), ['changed']);
      if (this.#hosts.get(key) !== undefined) this.#dispatcher.wake(key);
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
      const agents = this.#agentOf === undefined ? { agents: [...this.agents.keys()] } : {};
      const rows = await this.store.needingWork({
        owner: this.#owner,
        appName: this.app,
        ...agents,
        now,
        // Those we host or cannot run are among them, and must not keep the others out of sight.
        limit: this.#hosts.size + SCAN_LIMIT,
      });
      for (const row of rows) {
        this.#hosts.forgetFormer(row);
        if (row.inboxPending || this.#hosts.get(row.key) === undefined)
          this.#dispatcher.wake(row.key);
      }
      this.#hosts.letGoOfIdle(now);
      const due = await this.store.nextDueAt({ owner: this.#owner, ...agents });
      if (due !== undefined && due > now) next = Math.min(next, due);
    } catch (error) {
      this.#onError(error);
    } finally {
      this.#scanning = false;
      this.#hold();
      // What changed while it looked may have changed behind its back.
      if (this.#scanAgain) void this.#scan();
      else this.#arm(next);
    }
  }

  #arm(at: number): void {
    this.#cancelScan();
    if (this.#state !== 'open') return;
    // The time may have come while it looked.
    if (at <= this.#clock.now()) void this.#scan();
    else this.#cancelScan = this.#clock.at(at, () => void this.#scan());
  }

  /** The process stays while a session of ours runs or someone waits for its log. Looks at every session, so not for every input. */
  #hold(): void {
    const busy = this.#waiting > 0 || this.#hosts.isBusy;
    if (busy && this.#state !== 'closed') {
      this.#stay();
    } else {
      clearInterval(this.#keepAlive);
      this.#keepAlive = undefined;
    }
  }

  /** The process stays until `#hold` finds no more reason. */
  #stay(): void {
    if (this.#state !== 'closed') this.#keepAlive ??= setInterval(() => this.#hold(), SCAN_MS);
  }

  /** A session whose inputs wait; one that is not there is created with them. */
  async #openForBatch(
    id: string,
    options: SessionOptions,
    waiting: WaitingInputs,
  ): ReturnType<Parameters<typeof createInputBatch>[0]['open']> {
    this.#mustBeOpen();
    const key = this.#key(id, options.user);
    const found = await this.store.find(key);
    const agent = await this.#agent(options.agent ?? found?.agent ?? this.#onlyAgent());
    if (found === undefined) checkSessionId(id);
    else await this.session(id, options);
    const session = new SessionHandle(key, agent, {
      ...this.#services,
      inject: async (to, input, dedupeKey) => waiting.inject(to, input, dedupeKey),
      unread: async (of) => [
        ...(await this.#services.unread(of)),
        ...waiting.of(of).map(({ input }) => input),
      ],
      // One that is not there yet stands at its beginning.
      ...(found === undefined && { hosted: (of) => this.#hosts.get(of) ?? NOT_BEGUN }),
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
  async #checkCalled(row: SessionRow, agent: Agent, isHosted: boolean): Promise<void> {
    await this.#called.check(row);
    if (row.status === 'idle' && agent.children.size > 0 && !isHosted)
      await this.#called.stopLeftOver(row.key);
  }

  #handle(key: SessionKey, agent: Agent): Session {
    return new SessionHandle(key, agent, this.#services);
  }

  get #services(): HandleServices {
    return {
      store: this.store,
      artifacts: this.#tools.artifacts,
      carry: () => this.#instrument.carry(),
      maxInputBytes: this.#maxInputBytes,
      inject: async (key, input, dedupeKey) => this.#inject(key, input, dedupeKey),
      watch: (...watching) => this.#watch(...watching),
      unread: async (key) => (await this.store.inbox(key, 0)).map(({ input }) => input),
      hosted: (key) => this.#hosts.get(key),
      speakerOf: async (agent) => this.#speakerOf(agent),
      letGo: async (key) => this.#hosts.close(key),
      open: async (key, agent) => this.session(key.sessionId, { user: key.userId, agent }),
    };
  }

  async #inject(key: SessionKey, input: Input, dedupeKey: string): Promise<InjectReceipt> {
    this.#mustBeOpen();
    const receipt = await this.#own(async () => this.store.inject(key, input, dedupeKey));
    this.#dispatcher.wake(key);
    return receipt;
  }

  #watch(
    ...[key, from, { follow = true, signal }, selection]: Parameters<HandleServices['watch']>
  ): ReturnType<typeof logCursor> {
    return logCursor({
      store: this.store,
      feed: this.#feed,
      session: formatSessionKey(key),
      key,
      from,
      follow,
      signal,
      selection,
      // Only for who waits for what an input of ours brings: should the session be another's by now, that input shows it.
      isAtEnd: (seq) => selection !== undefined && this.#hosts.get(key)?.lastSeq === seq,
      isClosed: () => this.#state === 'closed',
      mayWait: () => this.#hosts.mustRun(key),
      onWaiting: (waiting) => {
        this.#waiting += waiting ? 1 : -1;
        if (waiting) this.#stay();
      },
    });
  }

  async #interrupt(key: SessionKey): Promise<void> {
    const row = await this.store.find(key);
    if (row !== undefined) await this.#handle(key, await this.#agent(row.agent)).interrupt();
  }

  async #speakerOf(name: string): Promise<string> {
    const agent = await this.#lookUp(name);
    return agent?.speaker ?? agent?.name ?? name;
  }

  async #runChild(parent: SessionKey, request: ChildRequest): Promise<ChildOutcome> {
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
    return runInChild(
      { session: child, speaker: await this.#speakerOf(request.agentName) },
      request,
    );
  }

  async #own<T>(write: () => Promise<T>): Promise<T> {
    this.#writing++;
    try {
      return await write();
    } finally {
      this.#writing--;
    }
  }

  #key(sessionId: string, userId: string = DEFAULT_USER): SessionKey {
    return parseSessionKey({ appName: this.app, userId, sessionId });
  }

  async #lookUp(name: string): Promise<Agent | undefined> {
    return this.agents.get(name) ?? (await this.#agentOf?.(name));
  }

  async #agent(name: string): Promise<Agent> {
    const agent = await this.#lookUp(name);
    if (agent === undefined) throw new UnknownAgentError(name, [...this.agents.keys()]);
    return agent;
  }

  #onlyAgent(): string {
    const names = this.#mainAgents;
    const [only] = names;
    if (only === undefined || names.length > 1) throw new UnknownAgentError('(none named)', names);
    return only;
  }

  #mustBeOpen(): void {
    if (this.#state !== 'open') throw new RuntimeClosedError();
  }
}

function toolServicesOf({ artifacts, memory }: RuntimeOptions): ToolServices {
  return { ...(artifacts !== undefined && { artifacts }), ...(memory !== undefined && { memory }) };
}

/** @throws InvalidInputError */
function maxInputBytesIn({ maxInputBytes = DEFAULT_MAX_INPUT_BYTES }: RuntimeOptions): number {
  if (Number.isSafeInteger(maxInputBytes) && maxInputBytes > 0) return maxInputBytes;
  throw new InvalidInputError(
    'maxInputBytes',
    `must be a whole number above 0; it is ${maxInputBytes}.`,
  );
}
