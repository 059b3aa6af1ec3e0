import { omitUndefined } from '../../core/internal.ts';
import type { Store } from '../../store/index.ts';
import type { ArtifactService } from '../../tools/index.ts';
import { repeatWhileUnavailable } from '../scheduling/repeat-while-unavailable.ts';
import { NextRead } from './next-read.ts';

/** How long a measurement is used while it shows room. A turn adds some kilobytes. */
const STORED_MS = 10_000;
/** The same for artifacts, whose service may be a bucket that lists them page by page. */
const ARTIFACTS_MS = 60_000;
/** With fewer measurements than this, old ones are not swept. */
const MIN_SWEEP_SIZE = 1024;

export interface StorageMeterOptions {
  readonly app: string;
  readonly store: Store;
  readonly artifacts: ArtifactService | undefined;
  readonly now: () => number;
  readonly isOpen: () => boolean;
}

/** A number that is read again when it is too old. */
class Measurement {
  readonly #read: NextRead<number>;
  readonly #now: () => number;
  #last: { readonly at: number; readonly bytes: number } | undefined;

  constructor(read: () => Promise<number>, now: () => number) {
    this.#read = new NextRead(read);
    this.#now = now;
  }

  async get(maxAgeMs: number): Promise<number> {
    const at = this.#now();
    if (this.#last !== undefined && at - this.#last.at < maxAgeMs) return this.#last.bytes;
    const bytes = await this.#read.get();
    this.#last = { at, bytes };
    return bytes;
  }

  /** True if no caller uses it any more. */
  get isOld(): boolean {
    return this.#last !== undefined && this.#now() - this.#last.at >= ARTIFACTS_MS;
  }

  /** Adds what this process has just stored. */
  add(bytes: number): void {
    if (this.#last !== undefined) this.#last = { ...this.#last, bytes: this.#last.bytes + bytes };
  }
}

/** Measurements by name. Sweeps keep the number of old ones in proportion to the others. */
class Measurements {
  readonly #byName = new Map<string, Measurement>();
  #sweepAt = MIN_SWEEP_SIZE;

  get size(): number {
    return this.#byName.size;
  }

  get(name: string): Measurement | undefined {
    return this.#byName.get(name);
  }

  getOrAdd(name: string, create: () => Measurement): Measurement {
    const found = this.#byName.get(name) ?? create();
    this.#byName.set(name, found);
    if (this.size > this.#sweepAt) this.#sweep();
    return found;
  }

  #sweep(): void {
    for (const [name, { isOld }] of this.#byName) if (isOld) this.#byName.delete(name);
    this.#sweepAt = Math.max(MIN_SWEEP_SIZE, 2 * this.size);
  }
}

/** What the sessions and artifacts of users and of the app take. */
export class StorageMeter {
  readonly #options: StorageMeterOptions;
  readonly #stored = new Measurements();
  readonly #artifacts = new Measurements();

  constructor(options: StorageMeterOptions) {
    this.#options = options;
  }

  /** Number of measurements in memory. */
  get size(): number {
    return this.#stored.size + this.#artifacts.size;
  }

  /** The bytes of a user or, without one, of the app. A number that is below `limit` may be old: up to a minute. */
  async measure(user: string | undefined, limit: number): Promise<number> {
    const bytes = await this.#sum(user, STORED_MS, ARTIFACTS_MS);
    return bytes < limit ? bytes : this.#sum(user, 0, 0);
  }

  /** The same as it is now. Artifacts may have been measured a minute ago. */
  async measureNow(user: string | undefined): Promise<number> {
    return this.#sum(user, 0, ARTIFACTS_MS);
  }

  /** Counts an artifact that is about to be saved, until artifacts are measured again. */
  addArtifact(user: string, bytes: number): void {
    for (const one of [user, undefined]) this.#artifacts.get(toName(one))?.add(bytes);
  }

  async #sum(user: string | undefined, storedMs: number, artifactsMs: number): Promise<number> {
    const { app: appName, store, artifacts, now, isOpen } = this.#options;
    const owner = { appName, ...omitUndefined({ userId: user }) };
    const name = toName(user);
    const stored = this.#stored.getOrAdd(
      name,
      () =>
        new Measurement(
          async () => repeatWhileUnavailable(async () => store.countBytes(owner), { isOpen }),
          now,
        ),
    );
    const saved = this.#artifacts.getOrAdd(
      name,
      () => new Measurement(async () => artifacts?.countBytes?.(owner) ?? 0, now),
    );
    const [one, other] = await Promise.all([stored.get(storedMs), saved.get(artifactsMs)]);
    return one + other;
  }
}

function toName(user: string | undefined): string {
  return user === undefined ? 'app' : `user ${user}`;
}
