import type { Agent } from '../../agents/index.ts';
import { formatSessionKey } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import { emptyMarking, Executor, NetChangedError } from '../../net/index.ts';
import { SessionNotFoundError, StoreUnavailableError } from '../../store/internal.ts';
import type {
  InjectReceipt,
  SessionInput,
  SessionReplacement,
  SessionRow,
} from '../../store/index.ts';
import { HostedSession } from './hosted-session.ts';
import type { HostedSessionOptions, HostedSessionServices } from './hosted-session.ts';
import { isNetChanged, loadSession, mayNotFit } from './load-session.ts';
import { isLong, planRenewal } from './plan-renewal.ts';
import type { LoadedSession } from './load-session.ts';
import type { DispatchRequest, DriveResult } from '../scheduling/session-dispatcher.ts';
import { Takeovers, type TakeoversOptions } from './takeovers.ts';
import { UnrunnableSessions } from './unrunnable-sessions.ts';
import { SessionQuarantinedError } from '../session/runtime-errors.ts';

export interface ActiveSessionsOptions extends HostedSessionServices {
  readonly findAgent: (name: string) => Promise<Agent | undefined>;
  /** Finds the hooks around a session. */
  readonly findInterceptor: (row: SessionRow) => Promise<HostedSessionOptions['interceptor']>;
  /** Runs a write. The runtime ignores the change notices that the store sends meanwhile. */
  readonly ignoringOwnChanges: <T>(write: () => Promise<T>) => Promise<T>;
  /** Schedules another drive of the session at a time (epoch ms). */
  readonly schedule: (key: SessionKey, at: number) => void;
  /** Called when a session that was driven has more to do. */
  readonly onBusy: () => void;
  readonly onError: (error: unknown, key?: SessionKey) => void;
  /** The most sessions of which the runtime remembers that it cannot run them; each takes about 1 KB. Default: 4096. */
  readonly maxUnrunnable?: number;
  /** Asks the dispatcher for drives. Undefined: this process claims sessions itself. */
  readonly driveRequests?: TakeoversOptions['requests'] | undefined;
  /** False when the runtime is closing and claims no more sessions. */
  readonly isOpen: () => boolean;
}

/** A session that was loaded before its claim, or why it could not be loaded. */
type LoadAttempt =
  | { readonly ok: true; readonly loaded: LoadedSession }
  | { readonly ok: false; readonly error: unknown };

/** A quiescent session is evicted after this time, or earlier when more than `MAX_ACTIVE` sessions are hosted. */
const IDLE_MS = 30_000;
const MAX_ACTIVE = 256;
/** Delay before a failed session is loaded again. */
const RETRY_MS = 250;
/** A claim that takes longer, such as that of an agent whose source does not answer, keeps no other one waiting. */
const LONG_CLAIM_MS = 10_000;
const DEFAULT_MAX_UNRUNNABLE = 4096;

/**
 * The sessions that a runtime hosts, each with its net in memory, and the sessions that it cannot run. `drive` claims a
 * session in the store when it needs an owner; this is the second half of a failover. A session that cannot run here is
 * not claimed: its inputs wait for a runtime that can.
 */
export class ActiveSessions {
  readonly #options: ActiveSessionsOptions;
  /** In the order of their last use. */
  readonly #hosts = new Map<string, { readonly host: HostedSession; readonly usedAt: number }>();
  readonly #unrunnable: UnrunnableSessions;
  readonly #claiming = new Map<
    string,
    { readonly done: Promise<void>; readonly startedAt: number }
  >();
  readonly #starts = new WeakMap<Agent, boolean>();
  readonly #takeovers: Takeovers | undefined;

  constructor(options: ActiveSessionsOptions) {
    this.#options = options;
    const { driveRequests: requests, onError } = options;
    const driveToRest = this.driveToRest.bind(this);
    if (requests !== undefined) this.#takeovers = new Takeovers({ driveToRest, requests, onError });
    this.#unrunnable = new UnrunnableSessions(options.maxUnrunnable ?? DEFAULT_MAX_UNRUNNABLE);
  }

  /** Number of sessions that are hosted or cannot run here. */
  get size(): number {
    return this.#hosts.size + this.#unrunnable.size;
  }

  /** Number of sessions that are being claimed and loaded, without those for which this takes unusually long. */
  get claimCount(): number {
    const since = this.#options.clock.now() - LONG_CLAIM_MS;
    return [...this.#claiming.values()].filter(({ startedAt }) => startedAt > since).length;
  }

  /** True while an effect of any session runs or a step is being committed. Looks at every session. */
  get isBusy(): boolean {
    return [...this.#hosts.values()].some(({ host }) => !host.isQuiescent);
  }

  get(key: SessionKey): HostedSession | undefined {
    return this.#hosts.get(formatSessionKey(key))?.host;
  }

  /**
   * @throws NetChangedError, SessionQuarantinedError when the session cannot run here
   * @throws the error with which an idle session could not be loaded
   */
  assertRunnable(key: SessionKey): void {
    const error = this.#unrunnable.getError(key);
    if (error !== undefined) throw error;
  }

  /**
   * The same for a reader that is about to wait. Undefined: the session may run. It reads the row of a quarantined
   * session, which an operator may have released.
   * @throws NetChangedError, SessionQuarantinedError when the session cannot run here
   */
  checkRunnable(key: SessionKey): Promise<void> | undefined {
    const error = this.#unrunnable.getError(key);
    if (error === undefined) return undefined;
    return this.#assertStillUnrunnable(key, error);
  }

  async #assertStillUnrunnable(key: SessionKey, error: unknown): Promise<void> {
    const row = await this.#options.store.find(key);
    if (row === undefined || this.#unrunnable.isDecided(row, this.#options.clock.now()))
      throw error;
  }

  /** True if a scan need not drive the session of this row: nothing would happen. */
  canSkip(row: SessionRow): boolean {
    if (this.get(row.key) !== undefined) return !row.inboxPending;
    return this.#unrunnable.has(row, this.#options.clock.now());
  }

  /**
   * Processes the inbox of a session that is hosted here. Otherwise claims the session, if it needs an owner; with a
   * dispatcher, asks it for a drive instead.
   * @param found the session's row, if the caller has just read it
   * @param claims true to claim the session here in any case. Default: unless there is a dispatcher
   */
  async drive(
    key: SessionKey,
    found?: SessionRow,
    claims: boolean = this.#takeovers === undefined,
  ): Promise<void> {
    const name = formatSessionKey(key);
    // One claim at a time: two hosts of one session would make each other's steps stale.
    const claiming = this.#claiming.get(name)?.done;
    // Whoever began the claim gets its error.
    await claiming?.catch(() => {});
    const hosted = this.#hosts.get(name);
    if (hosted !== undefined) {
      this.#addHost(name, hosted.host);
      if (found?.inboxPending !== false)
        await hosted.host.pull().catch((error: unknown) => {
          // The session was deleted elsewhere.
          if (!(error instanceof SessionNotFoundError)) throw error;
          this.evict(key);
        });
    } else {
      // The claim that has ended may have read the session before the input that this drive is for.
      const row = claiming === undefined ? found : undefined;
      if (claims) await this.#claimOnce(key, name, row);
      else await this.#dispatch(key, row);
    }
    if (this.#hosts.get(name)?.host.isQuiescent === false) this.#options.onBusy();
  }

  /**
   * Gives an input that is in no inbox to its session, if that is hosted here and at rest. Resolves with its receipt when
   * it is durable, and with undefined when the inbox must take it. Undefined at once: the inbox must take it. With a
   * dispatcher, the inbox takes all inputs, because what asks for a drive reads it.
   * @throws the error of a commit that may have written it
   */
  accept({ key, ...input }: SessionInput): Promise<InjectReceipt | undefined> | undefined {
    if (this.#takeovers !== undefined || !this.#options.isOpen()) return undefined;
    const name = formatSessionKey(key);
    const host = this.#hosts.get(name)?.host;
    const accepted = host?.accept(input);
    if (host === undefined || accepted === undefined) return undefined;
    this.#addHost(name, host);
    this.#options.onBusy();
    return accepted;
  }

  /**
   * Does all work that a session has now, and gives it up again.
   * @throws the error of the store
   */
  async driveToRest(key: SessionKey): Promise<DriveResult> {
    const { store, clock } = this.#options;
    let row = await store.find(key);
    while (row !== undefined && row.status !== 'quarantined') {
      this.evictStale(row);
      const { head } = row;
      await this.drive(key, row, true);
      const host = this.get(key);
      await host?.whenQuiescent();
      // A live connection keeps the session here.
      if (host?.isAttached === true) return { state: 'rests' };
      // One that has failed, or that another process took, is gone.
      const isHosted = host !== undefined && this.get(key) === host;
      const isAtRest = isHosted && host.isQuiescent;
      const nextRunAt = isAtRest ? host.nextRunAt : undefined;
      if (isAtRest) this.evict(key);
      row = await store.find(key);
      if (row === undefined || row.status === 'quarantined') break;
      // A timer fell due meanwhile.
      if (isHosted && !isAtRest && this.#options.isOpen()) continue;
      const now = clock.now();
      if (!hasWork(row, now)) return { state: 'rests', ...toNextDrive(row) };
      // The clock of a former owner was ahead, and the time of the session with it: its timer is due later here.
      const restingRow = { ...row, nextDueAt: nextRunAt ?? row.nextDueAt };
      if (row.head === host?.head && !hasWork(restingRow, now))
        return { state: 'rests', ...toNextDrive(restingRow) };
      // What one drive did not move, another one may, after a pause.
      if (!isHosted || row.head === head || !this.#options.isOpen()) return { state: 'left' };
    }
    return { state: 'rests' };
  }

  /** Drives a session here whose drive by the dispatcher may hang, and gives it up at rest. */
  takeOver(row: SessionRow): void {
    this.#takeovers?.start(row);
  }

  /** Drops a session at once, without writing. */
  evict(key: SessionKey): void {
    const name = formatSessionKey(key);
    this.#hosts.get(name)?.host.stop();
    this.#hosts.delete(name);
    this.#unrunnable.delete(key);
  }

  /**
   * Drops the hosted session when the row shows that it is stale: a new session has its id, or another owner had it
   * meanwhile and is gone. A row that was read before this process claimed the session shows nothing.
   */
  evictStale({ key, uid, epoch }: Pick<SessionRow, 'key' | 'uid' | 'epoch'>): void {
    const hosted = this.get(key);
    if (hosted === undefined) return;
    if (hosted.uid !== uid || epoch > hosted.epoch) this.evict(key);
  }

  /**
   * Tells readers that another process may have changed any session. Of a session that is hosted here, they have every
   * event unless another process took it, which its row shows: that is cheaper than to read its log for each reader.
   */
  async publishForeignChanges(): Promise<void> {
    const { broadcast, onError } = this.#options;
    await Promise.all(
      broadcast.sessions.map(async (name) => {
        const host = this.#hosts.get(name)?.host;
        try {
          if (host === undefined || (await this.#wasTaken(host)))
            broadcast.publish(name, ['changed']);
        } catch (error) {
          // The readers get the error of the store, if it lasts.
          broadcast.publish(name, ['changed']);
          onError(error, host?.key);
        }
      }),
    );
  }

  async #wasTaken({ key, uid, head }: HostedSession): Promise<boolean> {
    const row = await this.#options.store.find(key);
    return row?.uid !== uid || row.owner !== this.#options.owner || row.head !== head;
  }

  /** Aborts the session's effects, commits their steps, and drops the session. */
  async close(key: SessionKey): Promise<void> {
    const name = formatSessionKey(key);
    const hosted = this.#hosts.get(name);
    if (hosted === undefined) return;
    await hosted.host.close();
    this.#hosts.delete(name);
  }

  /**
   * Hands over every session: starts no more effects, waits until the running ones end, but at most so long, and gives
   * the sessions that have more to do away. Another runtime then continues them.
   */
  async drain(timeoutMs: number): Promise<void> {
    await Promise.allSettled([...this.#claiming.values()].map(async ({ done }) => done));
    await Promise.all(
      [...this.#hosts.values()].map(async ({ host }) => this.#release(host, timeoutMs)),
    );
  }

  async #release(host: HostedSession, timeoutMs: number): Promise<void> {
    const { store, owner, broadcast, onError } = this.#options;
    const { key } = host;
    const wasBusy = !host.isQuiescent;
    await host.drain(timeoutMs);
    await host.close();
    const name = formatSessionKey(key);
    if (this.#hosts.get(name)?.host === host) this.#hosts.delete(name);
    try {
      if (wasBusy || host.hasMore) await store.evict(key, owner);
    } catch (error) {
      // The session is free when this runtime leaves the store.
      onError(error, key);
    }
    // Readers here may have missed the last events of the session, and follow its next owner.
    broadcast.publish(name, ['changed']);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#hosts.values()].map(async ({ host }) => host.close()));
    await this.#takeovers?.whenEnded();
    this.#hosts.clear();
  }

  evictIdle(now: number): void {
    // A session with a long journal is claimed again at its next work, and begins anew.
    for (const [name, { host }] of this.#hosts)
      if (isLong(host.head, host.agent) && host.isQuiescent) this.#drop(name, host);
    let over = this.#hosts.size - MAX_ACTIVE;
    for (const [name, { host, usedAt }] of this.#hosts) {
      if (over <= 0 && now - usedAt < IDLE_MS) return;
      if (!host.isQuiescent) continue;
      over--;
      this.#drop(name, host);
    }
  }

  /** Adds a hosted session, or moves it to the end of the order of use. */
  #addHost(name: string, host: HostedSession): void {
    this.#hosts.delete(name);
    this.#hosts.set(name, { host, usedAt: this.#options.clock.now() });
  }

  #drop(name: string, host: HostedSession): void {
    host.stop();
    this.#hosts.delete(name);
  }

  async #claimOnce(key: SessionKey, name: string, found?: SessionRow): Promise<void> {
    const claiming = this.#claiming.get(name) ?? {
      done: this.#claim(key, name, found).finally(() => this.#claiming.delete(name)),
      startedAt: this.#options.clock.now(),
    };
    this.#claiming.set(name, claiming);
    await claiming.done;
  }

  async #dispatch(key: SessionKey, found: SessionRow | undefined): Promise<void> {
    const { store, owner, clock, findAgent, driveRequests } = this.#options;
    const row = found ?? (await store.find(key));
    if (row === undefined || row.status === 'quarantined') return;
    // Without its agent, this process knows only that the session has work.
    const agent = await this.#findAgent(row, findAgent);
    const isNeeded =
      agent === undefined ? hasWork(row, clock.now()) : this.#isNeeded(row, agent, clock.now());
    if (!isNeeded) return;
    // An input must not wait behind the drive of an owner that is dead. A living one has been notified.
    if (row.inFlight > 0 && row.owner !== owner) this.takeOver(row);
    else driveRequests?.add(row);
  }

  #isNeeded(row: SessionRow, agent: Agent, now: number): boolean {
    return needsOwner(row, agent, now) || (row.head === 0 && this.startsByItself(agent));
  }

  async #claim(key: SessionKey, name: string, found?: SessionRow): Promise<void> {
    const { store, owner, clock, findAgent, ignoringOwnChanges, isOpen } = this.#options;
    let row = found ?? (await store.find(key));
    while (row !== undefined && row.status !== 'quarantined') {
      if (this.#unrunnable.isDecided(row, clock.now())) return;
      const expected = row;
      const agent = await this.#findAgent(expected, findAgent);
      if (agent === undefined) return;
      // A closing runtime has left the store, or is about to. It must not claim sessions.
      if (!this.#isNeeded(expected, agent, clock.now()) || !isOpen()) return;
      let load: LoadAttempt | undefined;
      const renewal = await this.#planRenewal(expected, agent);
      if (renewal === undefined && mayNotFit(expected, agent)) {
        load = await this.#loadIfRunnable(expected, agent);
        if (load === undefined || !isOpen()) return;
        if (!load.ok && !hasWork(expected, clock.now())) {
          // It waits for its next input. Its failure to load does not count until then; who opens it gets the error.
          this.#unrunnable.addIdle(expected, load.error);
          return;
        }
      }
      // The session is claimed only at the step for which it is known to run here.
      const claim = await ignoringOwnChanges(async () => store.claim(key, owner, expected));
      if (claim.ok) {
        if (!isOpen()) return;
        if (renewal !== undefined) {
          // A session that got an input meanwhile is looked at again.
          await ignoringOwnChanges(async () => store.replace(key, renewal));
          row = await store.find(key);
          continue;
        }
        if (load?.ok === false) await this.#onFailed(claim.row, name, load.error);
        else await this.#open(claim.row, agent, name, load?.loaded);
        return;
      }
      if ('owned' in claim) {
        // The failure does not count: the session's owner may be able to run it.
        if (load?.ok === false) this.#onUnloadable(expected, name, load.error);
        return;
      }
      row = claim.changed;
    }
  }

  /** Finds the agent of a session. Scans leave a session alone for a while when its agent is not available. */
  async #findAgent(
    row: SessionRow,
    findAgent: ActiveSessionsOptions['findAgent'],
  ): Promise<Agent | undefined> {
    const { clock } = this.#options;
    try {
      const agent = await findAgent(row.agent);
      if (agent === undefined) this.#unrunnable.addWithoutAgent(row, clock.now());
      return agent;
    } catch (error) {
      // A source may read the store, which can be available again at any time.
      if (!(error instanceof StoreUnavailableError))
        this.#unrunnable.addWithoutAgent(row, clock.now());
      throw error;
    }
  }

  /** Plans how a session begins anew. Undefined: it keeps its journal. */
  async #planRenewal(row: SessionRow, agent: Agent): Promise<SessionReplacement | undefined> {
    if (row.head === 0 || !(isNetChanged(row, agent) || isLong(row.head, agent))) return undefined;
    const { store, owner } = this.#options;
    try {
      return await planRenewal(store, row, agent, owner);
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error;
      // Loading it finds the error again, and reports it.
      return undefined;
    }
  }

  /** Loads a session whose net has changed. Undefined, after a report, when it must not be claimed now. */
  async #loadIfRunnable(row: SessionRow, agent: Agent): Promise<LoadAttempt | undefined> {
    const { store, onError, broadcast } = this.#options;
    const name = formatSessionKey(row.key);
    try {
      return { ok: true, loaded: await loadSession(store, row, agent) };
    } catch (error) {
      if (error instanceof NetChangedError) {
        this.#unrunnable.add(row, error);
        onError(error, row.key);
        broadcast.publish(name, ['changed']);
      } else if (error instanceof StoreUnavailableError) await this.#onFailed(row, name, error);
      else return { ok: false, error };
      return undefined;
    }
  }

  /** Leaves a session that cannot be loaded here, and that another runtime owns, alone for a while. */
  #onUnloadable(row: SessionRow, name: string, error: unknown): void {
    const { clock, onError, broadcast } = this.#options;
    this.#unrunnable.addOwned(row, error, clock.now());
    onError(error, row.key);
    broadcast.publish(name, ['changed']);
  }

  async #open(
    row: SessionRow,
    agent: Agent,
    name: string,
    loaded: LoadedSession | undefined,
  ): Promise<void> {
    const { clock, schedule, onError } = this.#options;
    let host: HostedSession | undefined;
    try {
      host = await this.#host(row, agent, name, loaded);
      this.#addHost(name, host);
      this.#unrunnable.delete(row.key);
      await host.pull();
    } catch (error) {
      if (host !== undefined && error instanceof StoreUnavailableError) {
        // The session runs already. To load it again would decide its running calls as after a crash.
        onError(error, row.key);
        schedule(row.key, clock.now() + RETRY_MS);
      } else await this.#onFailed(row, name, error);
    }
  }

  /** True when a new session of this agent fires a transition or has a timer before its first input. */
  startsByItself(agent: Agent): boolean {
    const known = this.#starts.get(agent);
    if (known !== undefined) return known;
    const executor = new Executor(agent.compiled, emptyMarking(), { toFiringId: String });
    executor.begin(0);
    const initialSeq = executor.marking.seq;
    executor.settle(0);
    const starts = executor.marking.seq > initialSeq || executor.nextRunAt !== undefined;
    this.#starts.set(agent, starts);
    return starts;
  }

  async #host(
    row: SessionRow,
    agent: Agent,
    name: string,
    loaded: LoadedSession | undefined,
  ): Promise<HostedSession> {
    const host: HostedSession = await HostedSession.open({
      runtime: this.#options,
      agent,
      loaded,
      interceptor: await this.#options.findInterceptor(row),
      row,
      onStopped: (error) => {
        if (this.#hosts.get(name)?.host === host) this.#hosts.delete(name);
        this.#options.broadcast.publish(name, ['changed']);
        if (error !== undefined) void this.#onFailed(row, name, error);
      },
    });
    return host;
  }

  /** Schedules another try of a session that failed. After three failures the session is quarantined. */
  async #onFailed(row: SessionRow, name: string, error: unknown): Promise<void> {
    const { key } = row;
    const { clock, broadcast, isOpen, onError, schedule } = this.#options;
    this.#hosts.get(name)?.host.stop();
    this.#hosts.delete(name);
    onError(error, key);
    if (!isOpen()) return;
    if (await this.#quarantineIfRepeated(key, error))
      this.#unrunnable.add(row, new SessionQuarantinedError(key.sessionId));
    else schedule(key, clock.now() + RETRY_MS);
    broadcast.publish(name, ['changed']);
  }

  /** Counts a failure of the session. An unavailable store does not count, because it is not the session's fault. */
  async #quarantineIfRepeated(key: SessionKey, error: unknown): Promise<boolean> {
    if (error instanceof StoreUnavailableError) return false;
    try {
      return (await this.#options.store.recordHydration(key, false)).quarantined;
    } catch (countError) {
      this.#options.onError(countError, key);
      return false;
    }
  }
}

/**
 * A session needs an owner for unread inputs, firings in flight, a due timer, or an upgrade to a changed net. Reading a
 * session needs no owner.
 */
function needsOwner(row: SessionRow, agent: Agent, now: number): boolean {
  return hasWork(row, now) || isNetChanged(row, agent);
}

/** The next timer of a session without other work. Each step before it asks for the same drive. */
function toNextDrive({ key, uid, nextDueAt: at }: SessionRow): {
  readonly next?: DispatchRequest;
} {
  return at === null ? {} : { next: { key, id: `${uid}/timer/${at}`, at } };
}

/** True for unread inputs, firings in flight, or a due timer. */
function hasWork(row: SessionRow, now: number): boolean {
  return row.inboxPending || row.inFlight > 0 || (row.nextDueAt ?? Infinity) <= now;
}
