import type { Agent } from '../../agents/index.ts';
import { formatSessionKey } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import { emptyMarking, Executor, NetChangedError } from '../../net/index.ts';
import { SessionNotFoundError, StoreUnavailableError } from '../../store/store-errors.ts';
import type { SessionRow } from '../../store/index.ts';
import { HostedSession } from './hosted-session.ts';
import type { HostedSessionServices } from './hosted-session.ts';
import { SessionQuarantinedError } from '../session/runtime-errors.ts';

export interface ActiveSessionsOptions extends HostedSessionServices {
  readonly findAgent: (name: string) => Promise<Agent | undefined>;
  /** Runs a write of this runtime's own, of which the store need not tell it. */
  readonly ignoringOwnChanges: <T>(write: () => Promise<T>) => Promise<T>;
  /** Asks for the session to be driven again, at a time. */
  readonly schedule: (key: SessionKey, at: number) => void;
  readonly onError: (error: unknown, key?: SessionKey) => void;
  /** False when no session is taken any more. */
  readonly isOpen: () => boolean;
}

/** A session at rest is let go after this long, or when more than `MAX_ACTIVE` are held. */
const IDLE_MS = 30_000;
const MAX_ACTIVE = 256;
/** A wait before a session that failed is tried again. */
const RETRY_MS = 250;

/** The sessions that a runtime owns now, each with its net in memory, and those it cannot run. */
export class ActiveSessions {
  readonly #options: ActiveSessionsOptions;
  readonly #hosts = new Map<string, { readonly host: HostedSession; usedAt: number }>();
  /** Sessions this runtime cannot run, and why: their inputs wait for one that can. */
  readonly #unrunnable = new Map<string, unknown>();
  readonly #claiming = new Map<string, Promise<void>>();
  readonly #starts = new WeakMap<Agent, boolean>();

  constructor(options: ActiveSessionsOptions) {
    this.#options = options;
  }

  /** How many are hosted or refused. */
  get size(): number {
    return this.#hosts.size + this.#unrunnable.size;
  }

  /** True while something of any of them runs or is being written. Looks at every one. */
  get isBusy(): boolean {
    return [...this.#hosts.values()].some(({ host }) => !host.isQuiescent);
  }

  get(key: SessionKey): HostedSession | undefined {
    return this.#hosts.get(formatSessionKey(key))?.host;
  }

  /** @throws why the session cannot run here, if it cannot */
  assertRunnable(key: SessionKey): void {
    const refused = this.#unrunnable.get(formatSessionKey(key));
    if (refused !== undefined) throw refused;
  }

  /** Brings a session as far as it goes now: takes it, if it may be taken, and its inbox. */
  async drive(key: SessionKey): Promise<void> {
    const name = formatSessionKey(key);
    const hosted = this.#hosts.get(name);
    if (hosted !== undefined) {
      hosted.usedAt = this.#options.clock.now();
      await hosted.host.pull().catch((error: unknown) => {
        // Somebody else deleted it: there is nothing to look after any more.
        if (!(error instanceof SessionNotFoundError)) throw error;
        this.evict(key);
      });
    } else if (!this.#unrunnable.has(name)) {
      // One at a time: two hosts of one session would refuse each other's steps.
      const taking =
        this.#claiming.get(name) ??
        this.#claim(key, name).finally(() => this.#claiming.delete(name));
      this.#claiming.set(name, taking);
      await taking;
    }
  }

  /** Lets go at once of a session that is no more. */
  evict(key: SessionKey): void {
    const name = formatSessionKey(key);
    this.#hosts.get(name)?.host.stop();
    this.#hosts.delete(name);
    this.#unrunnable.delete(name);
  }

  /**
   * Lets go at once of a session that is not the one we have: there is another one of its id by now, or somebody had it
   * since and is gone.
   */
  evictStale(row: Pick<SessionRow, 'key' | 'uid' | 'owner' | 'status'>): void {
    const { key, uid, owner, status } = row;
    const name = formatSessionKey(key);
    // An operator released it: it is tried again.
    if (status !== 'quarantined' && this.#unrunnable.get(name) instanceof SessionQuarantinedError)
      this.#unrunnable.delete(name);
    const hosted = this.#hosts.get(name);
    if (hosted === undefined) return;
    if (hosted.host.uid !== uid || owner !== this.#options.owner) this.evict(key);
  }

  /** Lets go of a session cleanly. */
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

  async #claim(key: SessionKey, name: string): Promise<void> {
    const { store, owner, clock, findAgent, ignoringOwnChanges, isOpen } = this.#options;
    const row = await store.find(key);
    if (row === undefined || row.status === 'quarantined') return;
    const agent = await findAgent(row.agent);
    if (agent === undefined) return;
    // One that closes has left the store, or is about to: it claims nothing.
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

  /** Whether a session of this agent does something, or has a timer, before anything is sent to it. */
  #startsByItself(agent: Agent): boolean {
    const known = this.#starts.get(agent);
    if (known !== undefined) return known;
    const executor = new Executor(agent.compiled, emptyMarking(), { toFiringId: String });
    executor.begin(0);
    const begun = executor.marking.seq;
    executor.settle(0);
    const starts = executor.marking.seq > begun || executor.nextRunAt !== undefined;
    this.#starts.set(agent, starts);
    return starts;
  }

  async #host(row: SessionRow, agent: Agent, name: string): Promise<HostedSession> {
    const host: HostedSession = await HostedSession.open({
      ...this.#options,
      agent,
      row,
      onStopped: (error) => {
        if (this.#hosts.get(name)?.host === host) this.#hosts.delete(name);
        this.#options.broadcast.publish(name, ['changed']);
        if (error !== undefined) void this.#onFailed(row.key, name, error);
      },
    });
    return host;
  }

  /** A session that could not be brought back is tried again, at most three times; one whose net has changed waits for another agent. */
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

  /** Counts a failure, unless it is the store's: a store that cannot be reached says nothing against a session. */
  async #quarantineIfRepeated(key: SessionKey, error: unknown): Promise<boolean> {
    if (error instanceof StoreUnavailableError) return false;
    try {
      return (await this.#options.store.recordHydration(key, false)).quarantined;
    } catch (uncounted) {
      this.#options.onError(uncounted, key);
      return false;
    }
  }
}

/** Reading a session is no reason to take it from whoever has it: an owner is needed for what is unread, in flight, due, or to be upgraded. */
function needsOwner(row: SessionRow, agent: Agent, now: number): boolean {
  const changed = row.head > 0 && row.netHash !== agent.compiled.hash;
  return row.inboxPending || row.inFlight > 0 || (row.nextDueAt ?? Infinity) <= now || changed;
}
