import type { OwnerId } from '../store.ts';

/** An owner in the database: the number of its advisory lock, and whether a connection holds the lock now. */
export interface OwnerRow {
  readonly name: OwnerId;
  readonly lock: number;
  readonly held: boolean;
  /** How long the server has been running, in milliseconds. */
  readonly uptimeMs: number;
}

export interface OwnerFailureDetectorOptions {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** How long an owner must be without its lock until it counts as dead. */
  readonly absenceMs: number;
  /** The same within this time after a restart of the server or a reconnect of this process. */
  readonly restartAbsenceMs: number;
}

/**
 * Distinguishes dead owners from owners whose connection broke. An owner without its lock counts as alive until this
 * process has observed the absence for `absenceMs`, or for `restartAbsenceMs` after the server restarted or this
 * process reconnected, because then all owners reconnect at once. An owner that was back in between has another lock
 * number, so its absence starts again.
 */
export class OwnerFailureDetector {
  readonly #options: OwnerFailureDetectorOptions;
  readonly #absent = new Map<OwnerId, { readonly lock: number; readonly since: number }>();
  #reconnectedAt = Number.NEGATIVE_INFINITY;

  constructor(options: OwnerFailureDetectorOptions) {
    this.#options = options;
  }

  /** Call when this process has reconnected to the server. */
  markReconnected(): void {
    this.#reconnectedAt = this.#options.now();
  }

  /** Records these observations, and returns the owners that are dead. */
  findDead(rows: readonly OwnerRow[]): readonly OwnerRow[] {
    const { absenceMs, restartAbsenceMs, now } = this.#options;
    const time = now();
    const names = new Set(rows.map(({ name }) => name));
    for (const name of this.#absent.keys()) if (!names.has(name)) this.#absent.delete(name);
    return rows.filter(({ name, lock, held, uptimeMs }) => {
      if (held) {
        this.#absent.delete(name);
        return false;
      }
      const known = this.#absent.get(name);
      const since = known?.lock === lock ? known.since : time;
      this.#absent.set(name, { lock, since });
      const isRecent = Math.min(uptimeMs, time - this.#reconnectedAt) < restartAbsenceMs;
      return time - since >= (isRecent ? restartAbsenceMs : absenceMs);
    });
  }
}
