import type { Agent } from '../agents/index.ts';
import { formatSessionKey } from '../core/index.ts';
import type { SessionKey } from '../core/index.ts';
import { emptyMarking, Executor, NetChangedError } from '../net/index.ts';
import { SessionNotFoundError, StoreUnavailableError } from '../store/store-errors.ts';
import type { SessionRow } from '../store/index.ts';
import { HostedSession } from './hosted-session.ts';
import type { HostServices } from './hosted-session.ts';
import { SessionQuarantinedError } from './runtime-errors.ts';

export interface SessionHostsOptions extends HostServices {
  readonly agentOf: (name: string) => Promise<Agent | undefined>;
  /** Runs a write of this runtime's own, of which the store need not tell it. */
  readonly own: <T>(write: () => Promise<T>) => Promise<T>;
  /** Asks for the session to be driven again, at a time. */
  readonly wake: (key: SessionKey, at: number) => void;
  readonly onError: (error: unknown, key?: SessionKey) => void;
  /** False when no session is taken any more. */
  readonly isOpen: () => boolean;
}

/** A session at rest is let go after this long, or when more than `MAX_HOSTED` are held. */
const IDLE_MS = 30_000;
const MAX_HOSTED = 256;
/** A wait before a session that failed is tried again. */
const RETRY_MS = 250;

/** The sessions that a runtime owns now, each with its net in memory, and those it cannot run. */
export class SessionHosts {
  readonly #options: SessionHostsOptions;
  readonly #hosts = new Map<string, { readonly host: HostedSession; usedAt: number }>();
  /** Sessions this runtime cannot run, and why: their inputs wait for one that can. */
  readonly #refused = new Map<string, unknown>();
  readonly #taking = new Map<string, Promise<void>>();
  readonly #starts = new WeakMap<Agent, boolean>();

  constructor(options: SessionHostsOptions) {
    this.#options = options;
  }

  /** How many are hosted or refused. */
  get size(): number {
    return this.#hosts.size + this.#refused.size;
  }

  /** True while something of any of them runs or is being written. Looks at every one. */
  get isBusy(): boolean {
    return [...this.#hosts.values()].some(({ host }) => !host.isQuiet);
  }

  get(key: SessionKey): HostedSession | undefined {
    return this.#hosts.get(formatSessionKey(key))?.host;
  }

  /** @throws why the session cannot run here, if it cannot */
  mustRun(key: SessionKey): void {
    const refused = this.#refused.get(formatSessionKey(key));
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
        this.forget(key);
      });
    } else if (!this.#refused.has(name)) {
      // One at a time: two hosts of one session would refuse each other's steps.
      const taking =
        this.#taking.get(name) ?? this.#take(key, name).finally(() => this.#taking.delete(name));
      this.#taking.set(name, taking);
      await taking;
    }
  }

  /** Lets go at once of a session that is no more. */
  forget(key: SessionKey): void {
    const name = formatSessionKey(key);
    this.#hosts.get(name)?.host.stop();
    this.#hosts.delete(name);
    this.#refused.delete(name);
  }

  /**
   * Lets go at once of a session that is not the one we have: there is another one of its id by now, or somebody had it
   * since and is gone.
   */
  forgetFormer(row: Pick<SessionRow, 'key' | 'uid' | 'owner' | 'status'>): void {
    const { key, uid, owner, status } = row;
    const name = formatSessionKey(key);
    // An operator released it: it is tried again.
    if (status !== 'quarantined' && this.#refused.get(name) instanceof SessionQuarantinedError)
      this.#refused.delete(name);
    const hosted = this.#hosts.get(name);
    if (hosted === undefined) return;
    if (hosted.host.uid !== uid || owner !== this.#options.owner) this.forget(key);
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

  letGoOfIdle(now: number): void {
    const quiet = [...this.#hosts]
      .filter(([, { host }]) => host.isQuiet)
      .toSorted(([, a], [, b]) => a.usedAt - b.usedAt);
    let over = this.#hosts.size - MAX_HOSTED;
    for (const [name, { host, usedAt }] of quiet) {
      if (over-- <= 0 && now - usedAt < IDLE_MS) return;
      host.stop();
      this.#hosts.delete(name);
    }
  }

  async #take(key: SessionKey, name: string): Promise<void> {
    const { store, owner, clock, agentOf, own, isOpen } = this.#options;
    const row = await store.find(key);
    if (row === undefined || row.status === 'quarantined') return;
    const agent = await agentOf(row.agent);
    if (agent === undefined) return;
    // One that closes has left the store, or is about to: it claims nothing.
    const isNeeded =
      needsSomeone(row, agent, clock.now()) || (row.head === 0 && this.#startsByItself(agent));
    if (!isNeeded || !isOpen()) return;
    const claim = await own(async () => store.claim(key, owner));
    if (!claim.ok || !isOpen()) return;
    try {
      const host = await this.#host(claim.row, agent, name);
      this.#hosts.set(name, { host, usedAt: clock.now() });
      await host.pull();
    } catch (error) {
      await this.#failed(key, name, error);
    }
  }

  /** Whether a session of this agent does something, or has a timer, before anything is sent to it. */
  #startsByItself(agent: Agent): boolean {
    const known = this.#starts.get(agent);
    if (known !== undefined) return known;
    const executor = new Executor(agent.compiled, emptyMarking(), { firingIdOf: String });
    executor.begin(0);
    const begun = executor.marking.seq;
    executor.settle(0);
    const starts = executor.marking.seq > begun || executor.needsLookAt !== undefined;
    this.#starts.set(agent, starts);
    return starts;
  }

  async #host(row: SessionRow, agent: Agent, name: string): Promise<HostedSession> {
    const host: HostedSession = await HostedSession.open({
      ...this.#options,
      agent,
      row,
      onGone: (error) => {
        if (this.#hosts.get(name)?.host === host) this.#hosts.delete(name);
        this.#options.feed.tell(name, ['changed']);
        if (error !== undefined) void this.#failed(row.key, name, error);
      },
    });
    return host;
  }

  /** A session that could not be brought back is tried again, at most three times; one whose net has changed waits for another agent. */
  async #failed(key: SessionKey, name: string, error: unknown): Promise<void> {
    const { clock, feed, isOpen, onError, wake } = this.#options;
    this.#hosts.get(name)?.host.stop();
    this.#hosts.delete(name);
    onError(error, key);
    if (!isOpen()) return;
    if (error instanceof NetChangedError) this.#refused.set(name, error);
    else if (await this.#failedOnceTooOften(key, error))
      this.#refused.set(name, new SessionQuarantinedError(key.sessionId));
    else wake(key, clock.now() + RETRY_MS);
    feed.tell(name, ['changed']);
  }

  /** Counts a failure, unless it is the store's: a store that cannot be reached says nothing against a session. */
  async #failedOnceTooOften(key: SessionKey, error: unknown): Promise<boolean> {
    if (error instanceof StoreUnavailableError) return false;
    try {
      return (await this.#options.store.hydrated(key, false)).quarantined;
    } catch (uncounted) {
      this.#options.onError(uncounted, key);
      return false;
    }
  }
}

/** Reading a session is no reason to take it from whoever has it: an owner is needed for what is unread, in flight, due, or to be upgraded. */
function needsSomeone(row: SessionRow, agent: Agent, now: number): boolean {
  const changed = row.head > 0 && row.netHash !== agent.compiled.hash;
  return row.inboxPending || row.inFlight > 0 || (row.nextDueAt ?? Infinity) <= now || changed;
}
