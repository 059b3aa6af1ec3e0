import type { Agent } from '../../agents/index.ts';
import { formatSessionKey } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import { emptyMarking, Executor, NetChangedError } from '../../net/index.ts';
import { SessionNotFoundError, StoreUnavailableError } from '../../store/internal.ts';
import type { SessionRow } from '../../store/index.ts';
import { HostedSession } from './hosted-session.ts';
import type { HostedSessionOptions, HostedSessionServices } from './hosted-session.ts';
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
  /** False when the runtime is closing and claims no more sessions. */
  readonly isOpen: () => boolean;
}

/** A quiescent session is evicted after this time, or earlier when more than `MAX_ACTIVE` sessions are hosted. */
const IDLE_MS = 30_000;
const MAX_ACTIVE = 256;
/** Delay before a failed session is loaded again. */
const RETRY_MS = 250;

/**
 * The sessions that a runtime hosts, each with its net in memory, and the sessions that it cannot run. `drive` claims a
 * session in the store when it needs an owner; this is the second half of a failover.
 */
export class ActiveSessions {
  readonly #options: ActiveSessionsOptions;
  readonly #hosts = new Map<string, { readonly host: HostedSession; usedAt: number }>();
  /** Sessions that this runtime cannot run, with the error. Their inputs wait for a runtime that can. */
  readonly #unrunnable = new Map<string, unknown>();
  readonly #claiming = new Map<string, Promise<void>>();
  readonly #starts = new WeakMap<Agent, boolean>();

  constructor(options: ActiveSessionsOptions) {
    this.#options = options;
  }

  /** Number of sessions that are hosted or cannot run here. */
  get size(): number {
    return this.#hosts.size + this.#unrunnable.size;
  }

  /** True while an effect of any session runs or a step is being committed. Looks at every session. */
  get isBusy(): boolean {
    return [...this.#hosts.values()].some(({ host }) => !host.isQuiescent);
  }

  get(key: SessionKey): HostedSession | undefined {
    return this.#hosts.get(formatSessionKey(key))?.host;
  }

  /** @throws NetChangedError, SessionQuarantinedError when the session cannot run here */
  assertRunnable(key: SessionKey): void {
    const error = this.#unrunnable.get(formatSessionKey(key));
    if (error !== undefined) throw error;
  }

  /**
   * Processes the inbox of a session that is hosted here. Otherwise claims the session, if it needs an owner.
   * @param found the session's row, if the caller has just read it
   */
  async drive(key: SessionKey, found?: SessionRow): Promise<void> {
    const name = formatSessionKey(key);
    const hosted = this.#hosts.get(name);
    if (hosted !== undefined) {
      hosted.usedAt = this.#options.clock.now();
      if (found?.inboxPending !== false)
        await hosted.host.pull().catch((error: unknown) => {
          // The session was deleted elsewhere.
          if (!(error instanceof SessionNotFoundError)) throw error;
          this.evict(key);
        });
    } else if (!this.#unrunnable.has(name)) {
      // One claim at a time: two hosts of one session would make each other's steps stale.
      const claiming =
        this.#claiming.get(name) ??
        this.#claim(key, name, found).finally(() => this.#claiming.delete(name));
      this.#claiming.set(name, claiming);
      await claiming;
    }
    if (this.#hosts.get(name)?.host.isQuiescent === false) this.#options.onBusy();
  }

  /** Drops a session at once, without writing. */
  evict(key: SessionKey): void {
    const name = formatSessionKey(key);
    this.#hosts.get(name)?.host.stop();
    this.#hosts.delete(name);
    this.#unrunnable.delete(name);
  }

  /**
   * Drops the hosted session when the row shows that it is stale: a new session has its id, or another owner had it
   * meanwhile and is gone.
   */
  evictStale(row: Pick<SessionRow, 'key' | 'uid' | 'owner' | 'status'>): void {
    const { key, uid, owner, status } = row;
    const name = formatSessionKey(key);
    // An operator released the quarantine: allow another try.
    if (status !== 'quarantined' && this.#unrunnable.get(name) instanceof SessionQuarantinedError)
      this.#unrunnable.delete(name);
    const hosted = this.#hosts.get(name);
    if (hosted === undefined) return;
    if (hosted.host.uid !== uid || owner !== this.#options.owner) this.evict(key);
  }

  /** Aborts the session's effects, commits their steps, and drops the session. */
  async close(key: SessionKey): Promise<void> {
    const name = formatSessionKey(key);
    const hosted = this.#hosts.get(name);
    if (hosted === undefined) return;
    await hosted.host.close();
    this.#hosts.delete(name);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#hosts.values()].map(async ({ host }) => host.close()));
    this.#hosts.clear();
  }

  evictIdle(now: number): void {
    const quiescent = [...this.#hosts]
      .filter(([, { host }]) => host.isQuiescent)
      .toSorted(([, a], [, b]) => a.usedAt - b.usedAt);
    let over = this.#hosts.size - MAX_ACTIVE;
    for (const [name, { host, usedAt }] of quiescent) {
      if (over-- <= 0 && now - usedAt < IDLE_MS) return;
      host.stop();
      this.#hosts.delete(name);
    }
  }

  async #claim(key: SessionKey, name: string, found?: SessionRow): Promise<void> {
    const { store, owner, clock, findAgent, ignoringOwnChanges, isOpen } = this.#options;
    const row = found ?? (await store.find(key));
    if (row === undefined || row.status === 'quarantined') return;
    const agent = await findAgent(row.agent);
    if (agent === undefined) return;
    // A closing runtime has left the store, or is about to. It must not claim sessions.
    const isNeeded =
      needsOwner(row, agent, clock.now()) || (row.head === 0 && this.#startsByItself(agent));
    if (!isNeeded || !isOpen()) return;
    const claim = await ignoringOwnChanges(async () => store.claim(key, owner));
    if (!claim.ok || !isOpen()) return;
    try {
      const host = await this.#host(claim.row, agent, name);
      this.#hosts.set(name, { host, usedAt: clock.now() });
      await host.pull();
    } catch (error) {
      await this.#onFailed(key, name, error);
    }
  }

  /** True when a new session of this agent fires a transition or has a timer before its first input. */
  #startsByItself(agent: Agent): boolean {
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

  async #host(row: SessionRow, agent: Agent, name: string): Promise<HostedSession> {
    const host: HostedSession = await HostedSession.open({
      ...this.#options,
      agent,
      interceptor: await this.#options.findInterceptor(row),
      row,
      onStopped: (error) => {
        if (this.#hosts.get(name)?.host === host) this.#hosts.delete(name);
        this.#options.broadcast.publish(name, ['changed']);
        if (error !== undefined) void this.#onFailed(row.key, name, error);
      },
    });
    return host;
  }

  /**
   * Schedules another try of a session that failed. After three failures the session is quarantined. A session whose
   * net has changed is not tried again: it waits for a runtime with an agent that fits.
   */
  async #onFailed(key: SessionKey, name: string, error: unknown): Promise<void> {
    const { clock, broadcast, isOpen, onError, schedule } = this.#options;
    this.#hosts.get(name)?.host.stop();
    this.#hosts.delete(name);
    onError(error, key);
    if (!isOpen()) return;
    if (error instanceof NetChangedError) this.#unrunnable.set(name, error);
    else if (await this.#quarantineIfRepeated(key, error))
      this.#unrunnable.set(name, new SessionQuarantinedError(key.sessionId));
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
  const isNetChanged = row.head > 0 && row.netHash !== agent.compiled.hash;
  return row.inboxPending || row.inFlight > 0 || (row.nextDueAt ?? Infinity) <= now || isNetChanged;
}
