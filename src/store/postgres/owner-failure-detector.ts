import type { OwnerId } from '../store.ts';

/** An owner as the database shows it: the number of its lock, and whether a connection holds that now. */
export interface OwnerRow {
  readonly name: OwnerId;
  readonly lock: number;
  readonly held: boolean;
  /** How long the server has been running, in milliseconds. */
  readonly uptimeMs: number;
}

export interface OwnerFailureDetectorOptions {
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  readonly absenceMs: number;
  readonly restartAbsenceMs: number;
}

/**
 * Tells the dead from those whose connection broke. An owner without its lock counts as alive until this process has seen
 * it without for `absenceMs`; after the server restarted, or this process itself lost it, until `restartAbsenceMs` later:
 * then everybody comes back at once. An owner that was back in between has another lock, and its absence begins anew.
 */
export class OwnerFailureDetector {
  readonly #options: OwnerFailureDetectorOptions;
  readonly #absent = new Map<OwnerId, { readonly lock: number; readonly since: number }>();
  #reconnectedAt = Number.NEGATIVE_INFINITY;

  constructor(options: OwnerFailureDetectorOptions) {
    this.#options = options;
  }

  /** This process had lost the server, and is back. */
  markReconnected(): void {
    this.#reconnectedAt = this.#options.now();
  }

  /** Those of them that are dead, by what was seen until now. */
  findDead(rows: readonly OwnerRow[]): readonly OwnerRow[] {
    const { absenceMs, restartAbsenceMs, now } = this.#options;
    const at = now();
    const names = new Set(rows.map(({ name }) => name));
    for (const name of this.#absent.keys()) if (!names.has(name)) this.#absent.delete(name);
    return rows.filter(({ name, lock, held, uptimeMs }) => {
      if (held) {
        this.#absent.delete(name);
        return false;
      }
      const known = this.#absent.get(name);
      const since = known?.lock === lock ? known.since : at;
      this.#absent.set(name, { lock, since });
      const isRecent = Math.min(uptimeMs, at - this.#reconnectedAt) < restartAbsenceMs;
      return at - since >= (isRecent ? restartAbsenceMs : absenceMs);
    });
  }
}
