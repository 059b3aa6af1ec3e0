import type { SessionKey } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { RunnablePosition, SessionRow, Store } from '../../store/index.ts';
import { toRunnablePosition } from '../../store/internal.ts';
import type { ActiveSessions } from './active-sessions.ts';
import { StalledSessions, type SweepAction } from './stalled-sessions.ts';

export interface FailoverOptions {
  readonly store: Store;
  readonly owner: string;
  readonly appName: string;
  /** The agents whose sessions this runtime can run. Undefined: any agent. */
  readonly agents: readonly string[] | undefined;
  readonly clock: Clock;
  /** The most sessions that a scan schedules. Default: 256. */
  readonly scanLimit?: number;
  /** The most sessions of other or no owners that are claimed at the same time. Default: 32. */
  readonly takeoverBatch?: number;
  /** A number from 0 to below 1. Default: `Math.random`. */
  readonly random?: () => number;
  /**
   * Set if a dispatcher drives sessions: then a scan finds what it lost, at a longer interval, and takes over what it
   * cannot move. After a scan that reached its limit, the next one soon follows while `mayContinue` returns true.
   * Default: none.
   */
  readonly sweep?: { readonly mayContinue: () => boolean } | undefined;
  readonly activeSessions: ActiveSessions;
  readonly schedule: (key: SessionKey) => void;
  readonly onScanned: () => void;
  readonly onError: (error: unknown) => void;
}

/** The longest time between two scans. It bounds how long the sessions of a dead process wait. */
const SCAN_INTERVAL_MS = 1500;
/** The time between two scans when a dispatcher drives sessions, with jitter: from this to one and a half times this. */
const SWEEP_INTERVAL_MS = 10_000;
/** The pause between two pages of sessions that a dispatcher lost. */
const SWEEP_PAUSE_MS = 250;
/** The shortest time between two scans for timers while many fall due. */
const BUSY_PAUSE_MS = 50;
const DEFAULT_SCAN_LIMIT = 256;
const DEFAULT_TAKEOVER_BATCH = 32;
/** The pause between two batches, with jitter: from the half of this to one and a half times this. */
const TAKEOVER_PAUSE_MS = 50;

/**
 * Finds the sessions that need an owner and have none: those with unread input, a due timer, or an owner that died.
 * Each one is scheduled; `ActiveSessions.drive` then claims it in the store. Sessions that cannot run here are passed
 * over, and a scan that reached its limit continues where it ended, so that no session keeps another one waiting.
 *
 * When a process dies, all others find its sessions at the same time. Each takes random ones in small batches with a
 * pause between them, in which it sees what the others took. So the sessions are spread, few claims are lost, and the
 * sessions that a process has already continue meanwhile.
 */
export class Failover {
  readonly #options: FailoverOptions;
  #scanning = false;
  #scanAgain = false;
  #stopped = false;
  #cancelScan: () => void = () => {};
  /** Where the next scan begins. Undefined: at the session that is unchanged for longest. */
  #after: RunnablePosition | undefined;
  readonly #stalled = new StalledSessions();

  constructor(options: FailoverOptions) {
    this.#options = options;
  }

  /** Scans now, or once more after the scan that runs. Then scans again at an interval, and when a timer is due. */
  async scan(): Promise<void> {
    if (this.#stopped) return;
    this.#scanAgain = this.#scanning;
    if (this.#scanning) return;
    this.#scanning = true;
    this.#cancelScan();
    const now = this.#options.clock.now();
    const { sweep } = this.#options;
    let next = now + (sweep === undefined ? SCAN_INTERVAL_MS : this.#pickSweepInterval());
    try {
      const due = await this.#scheduleRunnable(now);
      next = Math.min(next, due);
      // A sweep that reached its limit, and has nothing left to take over.
      if (sweep !== undefined && due === Infinity && this.#after !== undefined) {
        this.#schedulePage(sweep.mayContinue);
        next = Infinity;
      }
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#scanning = false;
      this.#options.onScanned();
      // The scan may have missed a change that was made while it ran.
      if (this.#scanAgain) void this.scan();
      else if (next < Infinity) this.#scheduleScan(next);
    }
  }

  #pickSweepInterval(): number {
    const { random = Math.random } = this.#options;
    return SWEEP_INTERVAL_MS * (1 + random() / 2);
  }

  /** Continues a sweep after a pause, in which it shows whether the dispatcher takes requests. */
  #schedulePage(mayContinue: () => boolean): void {
    if (this.#stopped) return;
    const { clock } = this.#options;
    this.#cancelScan();
    this.#cancelScan = clock.at(clock.now() + SWEEP_PAUSE_MS, () => {
      if (mayContinue()) {
        void this.scan();
        return;
      }
      // The requests of this page may be lost, too.
      this.#after = undefined;
      this.#scheduleScan(clock.now() + this.#pickSweepInterval());
    });
  }

  /** Starts no more scans. */
  stop(): void {
    this.#stopped = true;
    this.#cancelScan();
  }

  /** Without a dispatcher, a session of this process is driven, and each other one taken. */
  #decide(row: SessionRow, now: number): SweepAction {
    const { owner, sweep, activeSessions } = this.#options;
    if (sweep === undefined) return row.owner === owner ? 'ask' : 'take';
    // A request claims nothing, so all servers may ask for the same sessions.
    return activeSessions.get(row.key) === undefined ? this.#stalled.decide(row, now) : 'ask';
  }

  /** Returns when to scan again: for sessions left to take over, or, without a dispatcher, when a timer is due. */
  async #scheduleRunnable(now: number): Promise<number> {
    const { store, owner, appName, activeSessions, schedule, sweep } = this.#options;
    const {
      scanLimit = DEFAULT_SCAN_LIMIT,
      takeoverBatch = DEFAULT_TAKEOVER_BATCH,
      random = Math.random,
    } = this.#options;
    const agents = this.#options.agents === undefined ? {} : { agents: this.#options.agents };
    const isContinued = this.#after !== undefined;
    let scheduled = 0;
    let nextDueAt: number | undefined;
    do {
      // A page includes sessions that are hosted here or cannot run here, so that one page usually has all.
      const limit = activeSessions.size + scanLimit;
      const pageStart = this.#after;
      const page = await store.findRunnable({
        owner,
        appName,
        ...agents,
        now,
        limit,
        after: pageStart,
      });
      nextDueAt = page.nextDueAt;
      const ownerless: SessionRow[] = [];
      for (const row of page.sessions) {
        this.#after = toRunnablePosition(row);
        activeSessions.evictStale(row);
        if (activeSessions.canSkip(row)) continue;
        const action = this.#decide(row, now);
        if (action === 'take') ownerless.push(row);
        if (action !== 'ask') continue;
        schedule(row.key);
        if (++scheduled === scanLimit) break;
      }
      const batch = pickRandom(ownerless, takeoverBatch - activeSessions.claimCount, random);
      for (const row of batch)
        if (sweep === undefined) schedule(row.key);
        else activeSessions.takeOver(row);
      scheduled += batch.length;
      if (batch.length < ownerless.length) {
        // The next scan reads this page again, without what others have taken.
        this.#after = pageStart;
        activeSessions.evictIdle(now);
        return now + TAKEOVER_PAUSE_MS * (0.5 + random());
      }
      if (scheduled < scanLimit && page.sessions.length < limit) {
        this.#after = undefined;
        // The sessions before the one where this scan began.
        this.#scanAgain ||= isContinued && sweep === undefined;
      }
    } while (scheduled < scanLimit && this.#after !== undefined);
    activeSessions.evictIdle(now);
    if (nextDueAt === undefined || sweep !== undefined) return Infinity;
    return scheduled === 0 ? nextDueAt : Math.max(nextDueAt, now + BUSY_PAUSE_MS);
  }

  #scheduleScan(at: number): void {
    this.#cancelScan();
    if (this.#stopped) return;
    const { clock } = this.#options;
    // The scan may have run past the time.
    if (at <= clock.now()) void this.scan();
    else this.#cancelScan = clock.at(at, () => void this.scan());
  }
}

/** Picks up to `count` items at random, in a random order. */
function pickRandom<T>(items: readonly T[], count: number, random: () => number): readonly T[] {
  const left = [...items];
  const picked: T[] = [];
  while (picked.length < count && left.length > 0)
    picked.push(...left.splice(Math.floor(random() * left.length), 1));
  return picked;
}
